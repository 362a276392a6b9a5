import { decodeFunctionData, encodeFunctionData, parseAbi } from 'viem/utils';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CausewayError } from '../../src/error.ts';
import { buyTokenSale, proveAndBindWallet, type TokenSalePhase } from '../../src/flows/index.ts';
import type { Interceptor, TestWallet, WalletCall } from '../../src/testing/index.ts';
import type { OfferDetails } from '../../src/wire.ts';
import {
  BASE_ID,
  CHAIN,
  changesAccountAfter,
  failureOf,
  hangs,
  optionOf,
  QUICK,
  rejects,
  type Sandbox,
  startSandbox,
} from './sandbox.ts';

type Hex = `0x${string}`;
type Client = Awaited<ReturnType<Sandbox['newUser']>>;
type Sent = { from: Hex; to: Hex; data: Hex };

const abi = parseAbi([
  'function approve(address spender, uint256 amount)',
  'function transferFrom(address from, address to, uint256 amount)',
  'function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)',
]);
const AMOUNT = 25_000_000n;

let sandbox: Sandbox;
let offer: OfferDetails;
let fund: Hex;
let causeway: Client;
beforeAll(async () => {
  sandbox = await startSandbox();
  causeway = await sandbox.newUser();
  offer = await causeway.offers.get('harbour-quarter');
  fund = offer.contracts.find(({ chain }) => chain === CHAIN)?.address.toLowerCase() as Hex;
});
afterAll(() => sandbox.stop());

const purchase = (wallet: TestWallet, assetId = 'usd-coin') =>
  ({ offer, optionId: optionOf(offer, 'public'), chain: CHAIN, wallet, assetId, amount: AMOUNT }) as const;

/** The calls that the wallet was asked to send, decoded. */
function recording(wallet: TestWallet, lie: Interceptor = (call, next) => next(call)) {
  const sent: { name: string; args: readonly unknown[]; to: Hex }[] = [];
  wallet.intercept((call, next) => {
    if (call.method === 'eth_sendTransaction') {
      const [{ to, data }] = call.params as [Sent];
      const { functionName: name, args } = decodeFunctionData({ abi, data });
      sent.push({ name, args: args.map((one) => (typeof one === 'string' ? one.toLowerCase() : one)), to });
    }
    return lie(call, next);
  });
  return sent;
}

const approve = (wallet: TestWallet, token: Hex, amount: bigint) =>
  wallet.provider.request({
    method: 'eth_sendTransaction',
    params: [
      {
        from: wallet.address,
        to: token,
        data: encodeFunctionData({ abi, functionName: 'approve', args: [fund, amount] }),
      },
    ],
  });

/** An approval that was sent by a page which then went away. */
async function crashAfterApproval(client: Client, wallet: TestWallet, amount = AMOUNT): Promise<Hex> {
  const stop = new AbortController();
  let hash: Hex = '0x';
  const onApproved = (sent: Hex) => {
    hash = sent;
    stop.abort();
  };
  const error = await failureOf(
    buyTokenSale(client, { ...purchase(wallet), amount, onApproved }, { ...QUICK, signal: stop.signal }),
  );
  expect([error.phase, error.code]).toEqual(['approving', 'aborted']);
  expect((await client.participations.list()).data).toEqual([]);
  return hash;
}

const completed = (client: Client, id: string) =>
  expect.poll(async () => (await client.participations.get(id)).status).toBe('completed');

describe('a purchase', () => {
  test('approves exactly the amount, once, and reaches completed', async () => {
    const client = await sandbox.newUser();
    const wallet = await sandbox.newWallet();
    const sent = recording(wallet);
    const phases: TokenSalePhase[] = [];
    const told: string[] = [];
    const participation = await buyTokenSale(
      client,
      { ...purchase(wallet), onApproved: (hash) => told.push(hash) },
      { ...QUICK, onPhase: (phase) => phases.push(phase) },
    );
    expect(sent).toEqual([
      { name: 'approve', args: [fund, AMOUNT], to: sandbox.tokenOf('usd-coin').toLowerCase() },
    ]);
    expect(phases).toEqual(['connecting', 'checking', 'approving', 'confirming_approval', 'creating']);
    expect(told).toHaveLength(1);
    expect(participation.amount_string).toBe('25');
    await expect
      .poll(async () => (await client.participations.get(participation.id)).status)
      .toBe('completed');
  });

  test('goes through zero where the token wants that (USDT), and only there', async () => {
    const client = await sandbox.newUser();
    const [tether, dollar] = [await sandbox.newWallet(), await sandbox.newWallet()];
    await approve(tether, sandbox.tokenOf('tether'), 7n);
    await approve(dollar, sandbox.tokenOf('usd-coin'), 7n);
    const amounts = async (wallet: TestWallet, assetId: string) => {
      const sent = recording(wallet);
      await buyTokenSale(client, purchase(wallet, assetId), QUICK);
      return sent.map(({ args }) => args[1]);
    };
    expect(await amounts(tether, 'tether')).toEqual([0n, AMOUNT]);
    expect(await amounts(dollar, 'usd-coin')).toEqual([AMOUNT]);
  });

  test('without an allowance left, USDT is approved at once', async () => {
    const client = await sandbox.newUser();
    const wallet = await sandbox.newWallet();
    const sent = recording(wallet);
    await buyTokenSale(client, purchase(wallet, 'tether'), QUICK);
    expect(sent.map(({ args }) => args[1])).toEqual([AMOUNT]);
  });

  test('by permit: the owner signs exactly the amount, and the wallet puts it on chain', async () => {
    const client = await sandbox.newUser();
    const wallet = await sandbox.newWallet();
    const sent = recording(wallet);
    const phases: TokenSalePhase[] = [];
    const participation = await buyTokenSale(
      client,
      { ...purchase(wallet), approval: 'permit' },
      { ...QUICK, onPhase: (phase) => phases.push(phase) },
    );
    expect(sent).toMatchObject([{ name: 'permit' }]);
    expect(sent[0]?.args.slice(0, 3)).toEqual([wallet.address.toLowerCase(), fund, AMOUNT]);
    expect(phases).toContain('signing_permit');
    await expect
      .poll(async () => (await client.participations.get(participation.id)).status)
      .toBe('completed');
  });

  test('a token without permits is told before anyone signs', async () => {
    const wallet = await sandbox.newWallet();
    const calls: string[] = [];
    wallet.intercept((call, next) => {
      calls.push(call.method);
      return next(call);
    });
    const error = await failureOf(
      buyTokenSale(causeway, { ...purchase(wallet, 'tether'), approval: 'permit' }, QUICK),
    );
    expect(error.code).toBe('permit_not_supported');
    expect(calls).not.toContain('eth_signTypedData_v4');
  });

  test('an earlier participation keeps its allowance: the next one waits for it', async () => {
    const client = await sandbox.newUser();
    const wallet = await sandbox.newWallet();
    // From here on, what is sent stays unmined until it is asked for.
    await sandbox.setInterval(600_000);
    try {
      const first = await buyTokenSale(
        client,
        { ...purchase(wallet), onApproved: () => void sandbox.mine(1) },
        QUICK,
      );
      const phases: TokenSalePhase[] = [];
      const waits = new Promise<void>((waiting) => {
        void buyTokenSale(client, purchase(wallet), {
          ...QUICK,
          confirmWithin: 300,
          onPhase: (phase) => {
            phases.push(phase);
            if (phase === 'waiting_for_earlier') waiting();
          },
        }).catch(() => undefined);
      });
      await waits;
      const late = await failureOf(buyTokenSale(client, purchase(wallet), { ...QUICK, confirmWithin: 300 }));
      expect([late.phase, late.code]).toEqual(['waiting_for_earlier', 'participation_outstanding']);
      expect(late.details.participations).toEqual([first.id]);
      await sandbox.setInterval(0);
      const second = await buyTokenSale(client, purchase(wallet), QUICK);
      for (const { id } of [first, second]) await completed(client, id);
      expect(phases).not.toContain('approving');
    } finally {
      await sandbox.setInterval(0);
    }
  });
});

describe('what the service would refuse is refused before anyone pays for an approval', () => {
  const refusal = async (client: Client, change: Partial<Parameters<typeof buyTokenSale>[1]>) => {
    const wallet = await sandbox.newWallet();
    const sent = recording(wallet);
    const error = await failureOf(buyTokenSale(client, { ...purchase(wallet), ...change }, QUICK));
    expect(sent).toEqual([]);
    return error;
  };

  test('a balance that is short', async () => {
    const error = await refusal(causeway, { amount: 1_000_000_001n });
    expect([error.phase, error.code]).toEqual(['checking', 'insufficient_balance']);
    expect(error.details).toMatchObject({ required: '1000000001', balance: '1000000000' });
  });

  test('a requirement that is not met, with its status', async () => {
    const optionId = optionOf(offer, 'syndicate');
    const error = await refusal(causeway, { optionId, amount: 200_000_000n });
    expect(error.code).toBe('requirements_not_met');
    const { options } = await causeway.requirements.list(offer.id);
    const [requirement] = options[optionId]?.data ?? [];
    expect((error.cause as CausewayError).errors).toEqual({ [requirement?.id ?? '']: ['not_started'] });
    expect(error.details).toEqual((error.cause as CausewayError).errors);
  });

  test('a wallet that is not the bound one', async () => {
    const client = await sandbox.newUser();
    const optionId = optionOf(offer, 'syndicate');
    const bound = await sandbox.newWallet();
    await proveAndBindWallet(client, { offerId: offer.id, optionId, chain: CHAIN, wallet: bound });
    const error = await refusal(client, { optionId, amount: 200_000_000n });
    expect(error.code).toBe('wallet_not_bound');
    await buyTokenSale(client, { ...purchase(bound), optionId, amount: 200_000_000n }, QUICK);
  });

  test.each<[string, Partial<Parameters<typeof buyTokenSale>[1]>, string]>([
    ['less than the minimum purchase', { amount: 9_999_999n }, 'invalid_input'],
    ['no amount', { amount: '0' }, 'invalid_input'],
    ['an amount in other than smallest units', { amount: '10.5' }, 'invalid_input'],
    ['an asset that is not taken', { assetId: 'dogecoin' }, 'asset_not_accepted'],
    ['a chain without a deployment', { chain: 'ethereum_mainnet' }, 'chain_not_supported'],
    ['an option of another offer', { optionId: 'nope' }, 'invalid_input'],
    ['a hash that is none', { approvalHash: '0x12' }, 'invalid_input'],
  ])('%s', async (_what, change, code) => {
    expect((await refusal(causeway, change)).code).toBe(code);
  });

  test('an offer of another kind', async () => {
    const fundOffer = await causeway.offers.get('treasury-fund');
    expect((await refusal(causeway, { offer: fundOffer })).code).toBe('offer_type_mismatch');
  });
});

describe('a wallet in the middle of it', () => {
  test("the owner's no to the approval leaves nothing behind", async () => {
    const client = await sandbox.newUser();
    const wallet = await sandbox.newWallet({ intercept: rejects('eth_sendTransaction') });
    const error = await failureOf(buyTokenSale(client, purchase(wallet), QUICK));
    expect([error.phase, error.code]).toEqual(['approving', 'user_rejected']);
    const query = {
      token_address: sandbox.tokenOf('usd-coin'),
      owner: wallet.address,
      spender: fund,
      chain: CHAIN,
    } as const;
    expect((await client.token.allowance(query)).allowance).toBe('0');
    expect((await client.participations.list()).data).toEqual([]);
  });

  test('switched to another chain meanwhile, it is switched back before it sends', async () => {
    const wallet = await sandbox.newWallet();
    let switched = 0;
    wallet.intercept(async (call, next) => {
      const answer = await next(call);
      // Right after the simulation, as a person would do it.
      if (call.method === 'eth_call' && switched === 0) {
        switched++;
        await next({
          method: 'wallet_switchEthereumChain',
          params: [{ chainId: `0x${BASE_ID.toString(16)}` }],
        });
      } else if (call.method === 'wallet_switchEthereumChain') switched++;
      return answer;
    });
    const client = await sandbox.newUser();
    const { chain } = await buyTokenSale(client, purchase(wallet), QUICK);
    expect([chain, switched]).toEqual([CHAIN, 2]);
  });

  test('another account meanwhile is noticed, and nothing is sent', async () => {
    const wallet = await sandbox.newWallet();
    const sent = recording(wallet, changesAccountAfter('eth_call'));
    const error = await failureOf(buyTokenSale(causeway, purchase(wallet), QUICK));
    expect([error.phase, error.code]).toEqual(['approving', 'wallet_changed']);
    expect(sent).toEqual([]);
  });

  test('less approved than asked is not enough, and says how much it was', async () => {
    const wallet = await sandbox.newWallet();
    const data = encodeFunctionData({ abi, functionName: 'approve', args: [fund, AMOUNT - 1n] });
    wallet.intercept((call, next) =>
      call.method === 'eth_sendTransaction'
        ? next({ ...call, params: [{ ...(call.params as [Sent])[0], data }] })
        : next(call),
    );
    const error = await failureOf(buyTokenSale(causeway, purchase(wallet), QUICK));
    expect([error.phase, error.code]).toEqual(['confirming_approval', 'insufficient_allowance']);
    expect(error.details).toMatchObject({ required: '25000000', allowance: '24999999' });
  });

  test('a transaction that fails on chain is told with its reason', async () => {
    const wallet = await sandbox.newWallet();
    const args = [fund, wallet.address, 1n] as const;
    const data = encodeFunctionData({ abi, functionName: 'transferFrom', args });
    wallet.intercept((call, next) =>
      call.method === 'eth_sendTransaction'
        ? next({ ...call, params: [{ ...(call.params as [Sent])[0], data, gas: '0x186a0' }] })
        : next(call),
    );
    const error = await failureOf(buyTokenSale(causeway, purchase(wallet), QUICK));
    expect([error.phase, error.code]).toEqual(['confirming_approval', 'transaction_reverted']);
    expect(error.details.reason).toMatch(/^Insufficient(Allowance|Balance)$/);
    expect(error.transactionHash).toMatch(/^0x[0-9a-f]{64}$/);
  });

  test('a token that answers false to an approval is not sent one', async () => {
    const wallet = await sandbox.newWallet();
    // Answers 0 to approve(…) and 2^48-1 to everything else.
    const data = '0x601d80600b6000396000f360003560e01c63095ea7b3141565ffffffffffff0260005260206000f3';
    const hash = await wallet.provider.request({
      method: 'eth_sendTransaction',
      params: [{ from: wallet.address, data }],
    });
    const receipt = await wallet.node('eth_getTransactionReceipt', [hash]);
    const { contractAddress: address } = receipt as { contractAddress: Hex };
    const odd = structuredClone(offer);
    for (const contract of odd.contracts)
      for (const token of contract.funding_tokens) token.address = address;
    const sent = recording(wallet);
    const error = await failureOf(buyTokenSale(causeway, { ...purchase(wallet), offer: odd }, QUICK));
    expect([error.phase, error.code]).toEqual(['approving', 'approval_failed']);
    expect(sent).toEqual([]);
  });

  /**
   * Sends the transaction, and then another one with the same nonce that outbids it: at once, or when the page has seen
   * the first one.
   */
  const replaces = (change: (sent: Sent) => Partial<Sent>, when: 'at once' | 'once seen'): Interceptor => {
    let replace: (() => Promise<unknown>) | undefined;
    return async (call, next) => {
      const answer = call.method === 'eth_sendTransaction' ? await sendFirst(call, next) : await next(call);
      const isTime = when === 'at once' || call.method === 'eth_getTransactionByHash';
      if (isTime && replace !== undefined) {
        const send = replace;
        replace = undefined;
        await send();
        await sandbox.mine(1);
      }
      return answer;
    };
    async function sendFirst(call: WalletCall, next: (call: WalletCall) => Promise<unknown>) {
      const [request] = call.params as [Sent];
      const nonce = await next({ method: 'eth_getTransactionCount', params: [request.from, 'pending'] });
      const send = (one: object) =>
        next({ ...call, params: [{ ...request, gas: '0x30d40', nonce, ...one }] });
      replace = () => send({ maxFeePerGas: '0x2540be400', maxPriorityFeePerGas: '0x64', ...change(request) });
      return send({ maxFeePerGas: '0x12a05f200', maxPriorityFeePerGas: '0x1' });
    }
  };

  test.each(['at once', 'once seen'] as const)(
    'a transaction that its owner speeds up %s is followed, and the new hash is the one to keep',
    async (when) => {
      const client = await sandbox.newUser();
      const wallet = await sandbox.newWallet({ intercept: replaces(() => ({}), when) });
      const kept: Hex[] = [];
      await sandbox.setInterval(600_000);
      try {
        const onApproved = (hash: Hex) => void kept.push(hash);
        const participation = await buyTokenSale(client, { ...purchase(wallet), onApproved }, QUICK);
        expect(kept).toHaveLength(2);
        const receipt = (await wallet.node('eth_getTransactionReceipt', [kept[1]])) as { status: Hex };
        expect(receipt.status).toBe('0x1');
        expect(await wallet.node('eth_getTransactionReceipt', [kept[0]])).toBeNull();
        await sandbox.setInterval(0);
        await completed(client, participation.id);
      } finally {
        await sandbox.setInterval(0);
      }
    },
  );

  test('a transaction that its owner cancels ends the flow', async () => {
    const cancels = replaces(({ from }) => ({ to: from, data: '0x' }), 'once seen');
    const wallet = await sandbox.newWallet({ intercept: cancels });
    await sandbox.setInterval(600_000);
    try {
      const error = await failureOf(buyTokenSale(causeway, purchase(wallet), QUICK));
      expect([error.phase, error.code]).toEqual(['confirming_approval', 'transaction_replaced']);
    } finally {
      await sandbox.setInterval(0);
    }
  });

  test('an approval that is not mined in time is told with its hash', async () => {
    const wallet = await sandbox.newWallet();
    await sandbox.setInterval(600_000);
    try {
      const error = await failureOf(
        buyTokenSale(causeway, purchase(wallet), { ...QUICK, confirmWithin: 200 }),
      );
      expect([error.phase, error.code]).toEqual(['confirming_approval', 'confirmation_timeout']);
      expect(error.transactionHash).toMatch(/^0x/);
    } finally {
      await sandbox.setInterval(0);
    }
  });
});

describe('interrupted', () => {
  test('between approval and participation, it goes on with the hash and asks the wallet for nothing', async () => {
    const client = await sandbox.newUser();
    const wallet = await sandbox.newWallet();
    const approvalHash = await crashAfterApproval(client, wallet);
    const sent = recording(wallet);
    const phases: TokenSalePhase[] = [];
    const participation = await buyTokenSale(
      client,
      { ...purchase(wallet), approvalHash },
      { ...QUICK, onPhase: (phase) => phases.push(phase) },
    );
    expect(sent).toEqual([]);
    expect(phases).toEqual(['connecting', 'confirming_approval', 'creating']);
    await completed(client, participation.id);
    const again = await buyTokenSale(client, { ...purchase(wallet), approvalHash }, QUICK);
    expect(again.id).toBe(participation.id);
  });

  test('and resumed from two places at once, it is one participation', async () => {
    const client = await sandbox.newUser();
    const wallet = await sandbox.newWallet();
    const approvalHash = await crashAfterApproval(client, wallet);
    const resumed = await Promise.all(
      Array.from({ length: 5 }, () => buyTokenSale(client, { ...purchase(wallet), approvalHash }, QUICK)),
    );
    expect(new Set(resumed.map(({ id }) => id)).size).toBe(1);
    expect((await client.participations.list()).data).toHaveLength(1);
  });

  test('every resume carries the same idempotency key, and another request another one', async () => {
    const keys: (string | null)[] = [];
    const client = await sandbox.newUser({
      fetch: (url, init) => {
        if (init?.method === 'POST') keys.push(new Headers(init.headers).get('idempotency-key'));
        return fetch(url, init);
      },
    });
    const wallet = await sandbox.newWallet();
    const approvalHash = await crashAfterApproval(client, wallet);
    const resumed = { ...purchase(wallet), approvalHash };
    await buyTokenSale(client, resumed, QUICK);
    await buyTokenSale(client, resumed, QUICK);
    const less = await failureOf(buyTokenSale(client, { ...resumed, amount: AMOUNT - 1n }, QUICK));
    expect(less.code).toBe('approval_already_used');
    expect(keys[0]).toBe(keys[1]);
    expect(new Set(keys.slice(1)).size).toBe(3);
  });

  test('and refused then, it goes through once the requirement is met, whatever the service remembers', async () => {
    const client = await sandbox.newUser();
    const wallet = await sandbox.newWallet();
    const optionId = optionOf(offer, 'syndicate');
    const approvalHash = await crashAfterApproval(client, wallet, 200_000_000n);
    const resumed = { ...purchase(wallet), optionId, amount: 200_000_000n, approvalHash };
    const error = await failureOf(buyTokenSale(client, resumed, QUICK));
    expect([error.phase, error.code]).toEqual(['creating', 'requirements_not_met']);
    const { status, errors } = error.cause as CausewayError;
    expect([status, Object.values(errors)]).toEqual([403, [['not_started']]]);
    await proveAndBindWallet(client, { offerId: offer.id, optionId, chain: CHAIN, wallet });
    await completed(client, (await buyTokenSale(client, resumed, QUICK)).id);
  });

  test('a hash of somebody else is no approval of this wallet', async () => {
    const client = await sandbox.newUser();
    const [mine, other] = [await sandbox.newWallet(), await sandbox.newWallet()];
    const approvalHash = await crashAfterApproval(client, other);
    const error = await failureOf(buyTokenSale(client, { ...purchase(mine), approvalHash }, QUICK));
    expect([error.phase, error.code]).toEqual(['confirming_approval', 'approval_failed']);
  });

  test('by a reorganisation, it waits until the approval is mined again', async () => {
    const client = await sandbox.newUser();
    const wallet = await sandbox.newWallet();
    const approvalHash = await crashAfterApproval(client, wallet);
    await sandbox.reorg(1, 'return');
    expect(await wallet.node('eth_getTransactionReceipt', [approvalHash])).toBeNull();
    const looks: string[] = [];
    wallet.intercept((call, next) => {
      if (call.method === 'eth_getTransactionReceipt' && looks.push(call.method) === 2) void sandbox.mine(1);
      return next(call);
    });
    const participation = await buyTokenSale(client, { ...purchase(wallet), approvalHash }, QUICK);
    await completed(client, participation.id);
  });

  test('by a reorganisation that lost the approval, it says so, and a new purchase works', async () => {
    const client = await sandbox.newUser();
    const wallet = await sandbox.newWallet();
    const approvalHash = await crashAfterApproval(client, wallet);
    await sandbox.reorg(1, 'drop');
    const resumed = { ...purchase(wallet), approvalHash };
    const error = await failureOf(buyTokenSale(client, resumed, { ...QUICK, confirmWithin: 200 }));
    expect([error.code, error.transactionHash]).toEqual(['transaction_not_found', approvalHash]);
    await completed(client, (await buyTokenSale(client, purchase(wallet), QUICK)).id);
  });

  test('by its signal at any phase, it stops there, and names the transaction that is out', async () => {
    const wallet = await sandbox.newWallet();
    const at = async (phase: TokenSalePhase) => {
      const stop = new AbortController();
      const onPhase = (now: TokenSalePhase) => now === phase && stop.abort();
      return failureOf(buyTokenSale(causeway, purchase(wallet), { ...QUICK, onPhase, signal: stop.signal }));
    };
    for (const phase of ['connecting', 'checking', 'approving', 'confirming_approval'] as const) {
      const error = await at(phase);
      expect([error.phase, error.code]).toEqual([phase, 'aborted']);
      expect(error.transactionHash !== undefined).toBe(phase === 'confirming_approval');
    }
    const stop = new AbortController();
    wallet.intercept(hangs('eth_sendTransaction', () => stop.abort()));
    const hung = await failureOf(buyTokenSale(causeway, purchase(wallet), { ...QUICK, signal: stop.signal }));
    expect([hung.phase, hung.code]).toEqual(['approving', 'aborted']);
    expect((await causeway.participations.list()).data).toEqual([]);
  });
});
