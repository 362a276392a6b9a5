import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { contractSigner } from '@causeway/contracts/abi/test/contract-signer.ts';
import { messageApprover } from '@causeway/contracts/abi/test/message-approver.ts';
import { closeServer } from '@causeway/sandbox/simulators/ports.ts';
import fc from 'fast-check';
import { type Hex, hashMessage } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { bytesToHex, hexToBytes } from 'viem/utils';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type TestApp, testApp, testConfig } from '../../../test/support/app.ts';
import { startTestChain, type TestChain, type TestNode } from '../../../test/support/chain.ts';
import { publishWallets } from '../../../test/support/contract-wallets.ts';
import { makeOffer, saleFile } from '../../../test/support/offers.ts';
import { evmWallet, type Person, person, type TestWallet, userId } from '../../../test/support/wallets.ts';

let chain: TestChain;
let node: TestNode;
let app: TestApp;
let user: Person;
let offerId: string;
let option: string;
let wallets: Awaited<ReturnType<typeof publishWallets>>;
let safe: TestWallet;
let undeployed: TestWallet;

beforeAll(async () => {
  chain = await startTestChain();
  node = await chain.addNode();
  wallets = await publishWallets(chain);
  safe = await wallets.safeWallet('safe');
  undeployed = await wallets.undeployedWallet('undeployed');
  app = await appWith(node.url);
  user = await person(app);
  ({ offerId, option } = await offerOf(app));
}, 10 * 60_000);
afterAll(async () => {
  await app.close();
  await chain.close();
});
beforeEach(() => app.ctx.db.deleteFrom('option_addresses').execute());
afterEach(() => node.fault.set('none'));

function appWith(url: string): Promise<TestApp> {
  const limits = { ...testConfig().limits, wallet_ownership: 1_000_000 };
  return testApp({ config: { limits, rpcUrls: { ethereum_sepolia: [url] } } });
}

async function offerOf({ ctx }: TestApp) {
  const offer = await makeOffer(ctx, saleFile());
  return { offerId: offer.id, option: offer.options[0]?.id ?? '' };
}

const refused = { status: 422, body: { code: 'challenge_invalid' } };

describe('contract wallets', () => {
  test('bind as a deployed two-of-three Safe (EIP-1271)', async () => {
    const { status, body } = await user.bind(offerId, option, safe);
    expect([status, body.address]).toEqual([200, safe.address.toLowerCase()]);
  });

  test('bind as an undeployed ERC-4337 account, which stays undeployed (ERC-6492)', async () => {
    const { status, body } = await user.bind(offerId, option, undeployed);
    expect([status, body.address]).toEqual([200, undeployed.address.toLowerCase()]);
    expect(await chain.direct.getCode({ address: undeployed.address as Hex })).toBeUndefined();
  });

  test('do not bind with one of two required signatures', async () => {
    const signature = String(await safe.sign(await user.challenge(safe)));
    expect(await user.connect(offerId, option, safe, signature.slice(0, 132))).toMatchObject(refused);
  });

  test('refuse a signature for another message or Safe and consume the challenge', async () => {
    const other = await wallets.safeWallet('other');
    const message = await user.challenge(safe);
    expect(await user.connect(offerId, option, safe, String(await safe.sign(`${message} `)))).toMatchObject(
      refused,
    );
    expect(await user.connect(offerId, option, safe, String(await safe.sign(message)))).toMatchObject(
      refused,
    );
    const again = await user.challenge(safe);
    expect(await user.connect(offerId, option, safe, String(await other.sign(again)))).toMatchObject(refused);
  });

  test('refuse a signature with one changed bit, deployed or not', async () => {
    const { ctx } = app;
    for (const wallet of [safe, undeployed]) {
      const text = `text for ${wallet.address}`;
      const signature = hexToBytes((await wallet.sign(text)) as Hex);
      const check = async (used: Uint8Array, address = wallet.address.toLowerCase()) => {
        const signed = { chain: 'ethereum_sepolia' as const, address, text, signature: bytesToHex(used) };
        return (await ctx.signatures.check(signed)) === 'contract';
      };
      expect(await check(signature)).toBe(true);
      // Changes only the inner signature, because the account does not check the other bytes of the ERC-6492
      // wrapper.
      const [from, size] = wallet === safe ? [0, signature.length] : [signature.length - 32 - 96, 65];
      await fc.assert(
        fc.asyncProperty(fc.nat(size * 8 - 1), async (bit) => {
          const changed = Uint8Array.from(signature);
          const at = from + Math.floor(bit / 8);
          changed[at] = (changed[at] ?? 0) ^ (1 << (bit % 8));
          expect(await check(changed)).toBe(false);
        }),
        { numRuns: 40 },
      );
      const address = wallet.address.toLowerCase().replace(/.$/, (last) => (last === '0' ? '1' : '0'));
      expect(await check(signature, address)).toBe(false);
    }
  });

  test('are verified the same by viem', async () => {
    for (const wallet of [safe, undeployed]) {
      const parameters = {
        address: wallet.address as Hex,
        hash: hashMessage('text'),
        signature: (await wallet.sign('text')) as Hex,
      };
      expect(await chain.direct.verifyHash(parameters)).toBe(true);
      expect(await chain.direct.verifyHash({ ...parameters, hash: hashMessage('other') })).toBe(false);
    }
  });
});

test('an empty signature (0x) is passed to the wallet, for messages approved on chain', async () => {
  const address = await chain.create(messageApprover, [chain.owner.account.address]);
  const wallet = { ...evmWallet('approver'), address, sign: async () => '0x' };
  await user.challenge(wallet);
  expect(await user.connect(offerId, option, wallet, '0x')).toMatchObject(refused);
  const hash = hashMessage(await user.challenge(wallet));
  await chain.owner.writeContract({ ...messageApprover, address, functionName: 'approve', args: [hash] });
  expect((await user.connect(offerId, option, wallet, '0x')).status).toBe(200);
  const plain = evmWallet('plain');
  await user.challenge(plain);
  expect(await user.connect(offerId, option, plain, '0x')).toMatchObject(refused);
});

describe('delegated EOAs (EIP-7702)', () => {
  test('bind with their own key', async () => {
    const wallet = evmWallet('delegated');
    await wallets.delegate(wallet, wallets.simple7702);
    expect(await chain.direct.getCode({ address: wallet.address as Hex })).toMatch(/^0xef0100/);
    expect((await user.bind(offerId, option, wallet)).status).toBe(200);
  });

  test('bind with exactly the signatures that their code accepts', async () => {
    const session = evmWallet('session key');
    const wallet = evmWallet('delegated to a signer');
    const contract = await chain.create(contractSigner, [privateKeyToAccount(session.key).address]);
    await wallets.delegate(wallet, contract);
    expect((await user.bind(offerId, option, { ...wallet, sign: session.sign })).status).toBe(200);
    const stranger = evmWallet('stranger');
    expect(await user.bind(offerId, option, { ...wallet, sign: stranger.sign })).toMatchObject(refused);
  });
});

describe('unusual signatures', () => {
  test('of EOAs need no RPC call, wrong ones exactly one', async () => {
    const before = node.requests();
    expect((await user.bind(offerId, option, evmWallet('plain'))).status).toBe(200);
    expect(node.requests()).toBe(before);
    const wrong = { ...evmWallet('plain'), sign: evmWallet('wrong').sign };
    expect(await user.bind(offerId, option, wrong)).toMatchObject(refused);
    expect(node.requests()).toBe(before + 1);
  });

  test.each([
    ['only the ERC-6492 suffix', `0x${'6492'.repeat(16)}`],
    ['an empty ERC-6492 wrapper', `0x${'00'.repeat(96)}${'6492'.repeat(16)}`],
    ['many bytes', `0x${'ab'.repeat(8000)}`],
    ['many bytes with the suffix', `0x${'ff'.repeat(8000)}${'6492'.repeat(16)}`],
  ])('with %s are refused', async (_what, signature) => {
    for (const wallet of [safe, evmWallet('plain')]) {
      await user.challenge(wallet);
      expect(await user.connect(offerId, option, wallet, signature)).toMatchObject(refused);
    }
  });

  test('over 16 KiB are refused before the challenge is consumed', async () => {
    const message = await user.challenge(safe);
    const long = await user.connect(offerId, option, safe, `0x${'ab'.repeat(8192)}`);
    expect(long).toMatchObject({ status: 422, body: { code: 'validation_failed' } });
    expect((await user.connect(offerId, option, safe, String(await safe.sign(message)))).status).toBe(200);
  });
});

describe('an RPC outage', () => {
  test.each([
    ['down', 503, 'upstream_unavailable'],
    ['rate_limited', 503, 'upstream_unavailable'],
    ['garbage', 502, 'upstream_error'],
  ] as const)('(%s) is not a refusal and releases the challenge', async (mode, status, code) => {
    for (const wallet of [safe, undeployed]) {
      const signature = String(await wallet.sign(await user.challenge(wallet)));
      node.fault.set(mode);
      const failed = await user.connect(offerId, option, wallet, signature);
      expect(failed).toMatchObject({ status, body: { code, errors: { upstream: 'rpc:ethereum_sepolia' } } });
      node.fault.set('none');
      await expect
        .poll(async () => (await user.connect(offerId, option, wallet, signature)).status, {
          timeout: 10_000,
        })
        .toBe(200);
    }
  });

  test('does not affect EOAs', async () => {
    node.fault.set('down');
    expect((await user.bind(offerId, option, evmWallet('plain'))).status).toBe(200);
  });

  test('does not release a challenge that was replaced', async () => {
    const signature = String(await safe.sign(await user.challenge(safe)));
    node.fault.set('slow');
    const failing = user.connect(offerId, option, safe, signature);
    await user.challenge(safe);
    expect((await failing).status).toBe(503);
    node.fault.set('none');
    await expect
      .poll(async () => (await user.connect(offerId, option, safe, signature)).status, { timeout: 10_000 })
      .toBe(422);
  });

  test('between the two RPC calls for a contract wallet counts too', async () => {
    let answersCalls = false;
    const partialNode = createServer(async (request, response) => {
      const chunks = [];
      for await (const chunk of request) chunks.push(chunk);
      const { id, method, params } = JSON.parse(Buffer.concat(chunks).toString());
      if (method === 'eth_call' && !answersCalls) return void request.socket.destroy();
      const result = await chain.chain.request({ method, params });
      response
        .setHeader('content-type', 'application/json')
        .end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    });
    await new Promise<void>((resolve) => partialNode.listen(0, '127.0.0.1', resolve));
    const own = await appWith(`http://127.0.0.1:${(partialNode.address() as AddressInfo).port}`);
    try {
      const { offerId, option } = await offerOf(own);
      const someone = await person(own, { userId: userId(3) });
      const signature = String(await safe.sign(await someone.challenge(safe)));
      expect(await someone.connect(offerId, option, safe, signature)).toMatchObject({
        status: 503,
        body: { code: 'upstream_unavailable' },
      });
      answersCalls = true;
      await expect
        .poll(async () => (await someone.connect(offerId, option, safe, signature)).status, {
          timeout: 10_000,
        })
        .toBe(200);
    } finally {
      await own.close();
      await closeServer(partialNode);
    }
  });
});
