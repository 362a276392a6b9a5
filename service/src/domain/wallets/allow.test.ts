import { fundSwap } from '@causeway/contracts/abi/fund-swap.ts';
import { roles, sandboxKey } from '@causeway/sandbox/seed/keys.ts';
import fc from 'fast-check';
import { sql } from 'kysely';
import { decodeFunctionData, encodeFunctionData, type Hex, keccak256, toHex, zeroAddress } from 'viem';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type TestApp, testApp, testConfig } from '../../../test/support/app.ts';
import { expectAudited } from '../../../test/support/audited.ts';
import { startTestChain, type TestChain, type TestNode } from '../../../test/support/chain.ts';
import { makeOffer, saleFile, tokenizedFile } from '../../../test/support/offers.ts';
import {
  evmWallet,
  type Person,
  person,
  solanaWallet,
  type TestWallet,
} from '../../../test/support/wallets.ts';
import type { OperatorKey } from '../../kernel/config/operator-key.ts';
import type { Offer } from '../../platform/context/ports.ts';
import { settleVerifications } from './verification.ts';

let chain: TestChain;
let node: TestNode;
let app: TestApp;
let user: Person;
let swap: Offer;
let contract: Hex;
let count = 0;
let wallet: TestWallet;

beforeAll(async () => {
  chain = await startTestChain();
  node = await chain.addNode();
  contract = chain.deployment.fund_swap.address;
  app = await appWith({ supplierKey: sandboxKey('supplier') });
  user = await person(app);
  swap = await makeOffer(app.ctx, swapFile('swap', contract));
});
afterAll(async () => {
  await app.close();
  await chain.close();
});
beforeEach(() => {
  wallet = evmWallet(`allowed ${count++}`);
});
afterEach(() => node.fault.set('none'));

function appWith(config: { supplierKey: OperatorKey | null; databaseUrl?: string }): Promise<TestApp> {
  const limits = { ...testConfig().limits, wallet_ownership: 1_000_000 };
  return testApp({ config: { limits, rpcUrls: { ethereum_sepolia: [node.url] }, ...config } });
}

function swapFile(slug: string, address: Hex, more: object = {}) {
  const usdc = chain.deployment.tokens[0];
  return saleFile({
    slug,
    type: 'fund::swap',
    contracts: [
      {
        ...{ chain: 'ethereum_sepolia', address, allow_list: true },
        funding_tokens: [{ asset: 'usd-coin', address: usdc?.address }],
        ...more,
      },
    ] as never,
  });
}

const authorized = (address: string) =>
  user.call(
    'GET',
    `/v1/wallet/authorized?contract_address=${contract}&wallet_address=${address}&chain=ethereum_sepolia`,
  );

async function broadcast({ to, data }: { to: Hex; data: Hex }): Promise<void> {
  const hash = await chain.owner.sendTransaction({ to, data, gas: 500_000n });
  expect((await chain.direct.waitForTransactionReceipt({ hash })).status).toBe('success');
}

/** Simulates the transaction. */
const simulate = ({ to, data }: { to: Hex; data: Hex }) =>
  chain.chain.request({ method: 'eth_call', params: [{ from: roles.owner.address, to, data }, 'latest'] });

const transactionOf = ({ body }: { body: Record<string, unknown> }) => body as { to: Hex; data: Hex };

const states = async () =>
  (
    await app.ctx.db
      .selectFrom('allow_verifications')
      .select('state')
      .where('wallet', '=', wallet.address)
      .execute()
  ).map(({ state }) => state);

describe('allow-wallet', () => {
  test('returns a transaction that admits the wallet, and an empty object afterwards', async () => {
    const given = await user.allow(swap.id, wallet);
    expect(given).toEqual({
      status: 200,
      body: {
        object: 'allow_wallet_transaction',
        action: 'broadcast_transaction',
        data: expect.stringMatching(/^0x[0-9a-f]+$/),
        to: contract,
      },
    });
    expect((await authorized(wallet.address)).body.authorized).toBe(false);
    expect(await states()).toEqual(['permitted']);
    await broadcast(transactionOf(given));
    expect((await authorized(wallet.address)).body.authorized).toBe(true);
    expect(await user.allow(swap.id, wallet)).toEqual({ status: 200, body: {} });
    expect(await states()).toEqual(['allowed']);
    await expectAudited(app.ctx, 'wallet_permission.permitted', 'wallet_permission.allowed');
  });

  test('binds the permission to wallet, offer and deadline', async () => {
    const { data } = transactionOf(await user.allow(swap.id, wallet));
    const { functionName, args } = decodeFunctionData({ abi: fundSwap.abi, data });
    expect(functionName).toBe('allow');
    const [who, offer, deadline] = args as [Hex, Hex, bigint, Hex];
    expect(who.toLowerCase()).toBe(wallet.address);
    expect(offer).toBe(keccak256(toHex(swap.id)));
    expect(Number(deadline)).toBe(Math.floor(app.clock.now() / 1000) + 600);
  });

  test('returns a permission that reverts when tampered with', async () => {
    const { to, data } = transactionOf(await user.allow(swap.id, wallet));
    const parts = decodeFunctionData({ abi: fundSwap.abi, data }).args as [Hex, Hex, bigint, Hex];
    const attempt = (args: [Hex, Hex, bigint, Hex], target = to) =>
      simulate({ to: target, data: encodeFunctionData({ abi: fundSwap.abi, functionName: 'allow', args }) });
    await expect(attempt(parts)).resolves.toBeDefined();
    const [who, offer, deadline, signature] = parts;
    await expect(attempt([evmWallet('thief').address as Hex, offer, deadline, signature])).rejects.toThrow(
      'execution reverted',
    );
    await expect(attempt([who, keccak256('0x01'), deadline, signature])).rejects.toThrow(
      'execution reverted',
    );
    await expect(attempt([who, offer, deadline + 1n, signature])).rejects.toThrow('execution reverted');
    await expect(attempt([who, offer, 1n, signature])).rejects.toThrow('execution reverted');
    // The signature is invalid for another deployment, which has another EIP-712 domain.
    await expect(attempt(parts, chain.deployment.older_fund_swap.address)).rejects.toThrow(
      'execution reverted',
    );
    await fc.assert(
      fc.asyncProperty(fc.nat(65 * 8 - 1), async (bit) => {
        const bytes = Buffer.from(signature.slice(2), 'hex');
        const at = Math.floor(bit / 8);
        bytes[at] = (bytes[at] ?? 0) ^ (1 << (bit % 8));
        await expect(attempt([who, offer, deadline, `0x${bytes.toString('hex')}`])).rejects.toThrow(
          'execution reverted',
        );
      }),
      { numRuns: 60 },
    );
  });

  test('needs a new permission for a revoked wallet', async () => {
    const first = transactionOf(await user.allow(swap.id, wallet));
    await broadcast(first);
    const data = encodeFunctionData({
      abi: fundSwap.abi,
      functionName: 'revoke',
      args: [wallet.address as Hex],
    });
    await broadcast({ to: contract, data });
    await expect(simulate(first)).rejects.toThrow('execution reverted');
    await broadcast(transactionOf(await user.allow(swap.id, wallet)));
    expect((await authorized(wallet.address)).body.authorized).toBe(true);
  });

  test('accepts a form like JSON', async () => {
    const signature = String(await wallet.sign(await user.challenge(wallet)));
    const fields = { chain: wallet.chain, wallet_address: wallet.address, signature };
    const { status, body } = await user.call(
      'POST',
      `/v1/offers/${swap.slug}/allow-wallet`,
      new URLSearchParams(fields).toString() as never,
      { 'content-type': 'application/x-www-form-urlencoded' },
    );
    expect([status, body.action]).toEqual([200, 'broadcast_transaction']);
  });

  test('returns an empty object without an allow-list, after the proof', async () => {
    const open = await makeOffer(app.ctx, tokenizedFile());
    expect(await user.allow(open.id, wallet)).toEqual({ status: 200, body: {} });
    const wrong = { ...wallet, sign: evmWallet('wrong').sign };
    expect(await user.allow(open.id, wrong)).toMatchObject({
      status: 422,
      body: { code: 'challenge_invalid' },
    });
  });

  test('returns an empty object for a contract that allows every wallet', async () => {
    const everyone = await chain.create(fundSwap, [
      {
        owner: roles.owner.address,
        market: chain.deployment.fund_swap.market,
        feeRecipient: roles.owner.address,
        feeBps: 50n,
        supplier: zeroAddress,
        swapLevel: 2,
      },
    ] as never);
    const offer = await makeOffer(app.ctx, swapFile('everyone', everyone));
    expect(await user.allow(offer.id, wallet)).toEqual({ status: 200, body: {} });
  });

  test('consumes a proof once under concurrency', async () => {
    const signature = String(await wallet.sign(await user.challenge(wallet)));
    const body = { chain: wallet.chain, wallet_address: wallet.address, signature };
    const url = `/v1/offers/${swap.id}/allow-wallet`;
    const [one, two] = await Promise.all([user.call('POST', url, body), user.call('POST', url, body)]);
    expect([one.status, two.status].sort()).toEqual([200, 422]);
  });

  test('refuses token sales, other chains and unknown offers without consuming the proof', async () => {
    const sale = await makeOffer(app.ctx, saleFile());
    const signature = String(await wallet.sign(await user.challenge(wallet)));
    const ask = (offerId: string, chain: string, wallet_address: string) =>
      user.call('POST', `/v1/offers/${offerId}/allow-wallet`, { chain, wallet_address, signature });
    expect(await ask(sale.id, wallet.chain, wallet.address)).toMatchObject({
      status: 422,
      body: { code: 'offer_type_mismatch' },
    });
    for (const [name, address] of [
      ['base_sepolia', wallet.address],
      ['solana_devnet', solanaWallet('any').address],
    ] as const)
      expect(await ask(swap.id, name, address)).toMatchObject({
        status: 422,
        body: { code: 'chain_not_supported' },
      });
    expect((await ask('nope', wallet.chain, wallet.address)).status).toBe(404);
    expect((await ask(swap.id, wallet.chain, wallet.address)).status).toBe(200);
  });

  test('returns no permission with a wrong or missing supplier key', async () => {
    const wrong = await appWith({ supplierKey: sandboxKey('operator') });
    const none = await appWith({ supplierKey: null });
    try {
      for (const [own, status, code] of [
        [wrong, 422, 'contract_reverted'],
        [none, 503, 'upstream_unavailable'],
      ] as const) {
        const offer = await makeOffer(own.ctx, swapFile('swap', contract));
        const someone = await person(own);
        expect(await someone.allow(offer.id, wallet)).toMatchObject({ status, body: { code } });
      }
    } finally {
      await wrong.close();
      await none.close();
    }
  });

  test('reports an RPC outage without deciding', async () => {
    const signature = String(await wallet.sign(await user.challenge(wallet)));
    node.fault.set('down');
    const body = { chain: wallet.chain, wallet_address: wallet.address, signature };
    expect(await user.call('POST', `/v1/offers/${swap.id}/allow-wallet`, body)).toMatchObject({
      status: 503,
      body: { code: 'upstream_unavailable', errors: { upstream: 'rpc:ethereum_sepolia' } },
    });
    expect(await states()).toEqual([]);
  });
});

describe('the allow-list watch', () => {
  test('records an admitted wallet once', async () => {
    const given = transactionOf(await user.allow(swap.id, wallet));
    await settleVerifications(app.ctx);
    expect(await states()).toEqual(['permitted']);
    await broadcast(given);
    await app.ctx.db.deleteFrom('events').execute();
    await Promise.all([settleVerifications(app.ctx), settleVerifications(app.ctx)]);
    expect(await states()).toEqual(['allowed']);
    const events = await app.ctx.db.selectFrom('events').select(['type', 'data']).execute();
    expect(events).toMatchObject([
      { type: 'wallet.allowed', data: { offer_id: swap.id, status: 'allowed' } },
    ]);
  });

  const endAt = (seconds: bigint) =>
    app.ctx.db
      .updateTable('allow_verifications')
      .set({ deadline: new Date(Number(seconds) * 1000).toISOString() })
      .where('wallet', '=', wallet.address)
      .execute();

  test('expires a permission only well after its deadline on the chain', async () => {
    await user.allow(swap.id, wallet);
    const { timestamp } = await chain.direct.getBlock();
    await endAt(timestamp - 300n);
    await settleVerifications(app.ctx);
    expect(await states()).toEqual(['permitted']);
    await endAt(timestamp - 301n);
    await settleVerifications(app.ctx);
    expect(await states()).toEqual(['expired']);
    expect((await user.allow(swap.id, wallet)).status).toBe(200);
    expect(await states()).toEqual(['permitted']);
  });

  test('records a wallet that a lagging node or a reorganisation shows only after the deadline', async () => {
    const given = transactionOf(await user.allow(swap.id, wallet));
    const { timestamp } = await chain.direct.getBlock();
    await endAt(timestamp - 10n);
    await settleVerifications(app.ctx);
    await broadcast(given);
    await settleVerifications(app.ctx);
    expect(await states()).toEqual(['allowed']);
  });

  test('watches a permission behind many older ones that cannot be read', async () => {
    const given = transactionOf(await user.allow(swap.id, wallet));
    await sql`insert into allow_verifications (id, offer_id, user_id, partner_id, chain, contract, wallet, state, deadline,
        inserted_at, updated_at)
      select gen_random_uuid(), offer_id, user_id, partner_id, 'base_sepolia', contract, '0x' || lpad(to_hex(i), 40, '0'),
        'permitted', deadline, inserted_at, updated_at - interval '1 second'
      from allow_verifications, generate_series(1, 1200) i where wallet = ${wallet.address}`.execute(
      app.ctx.db,
    );
    await broadcast(given);
    await settleVerifications(app.ctx);
    expect(await states()).toEqual(['allowed']);
  });

  test('waits during an RPC outage', async () => {
    await user.allow(swap.id, wallet);
    node.fault.set('down');
    await settleVerifications(app.ctx);
    expect(await states()).toEqual(['permitted']);
  });
});
