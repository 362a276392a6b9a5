import { createPublicClient, type Hex, http, parseAbi } from 'viem';
import { sepolia } from 'viem/chains';
import { encodeFunctionData } from 'viem/utils';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { CausewayError } from '../../src/error.ts';
import { buyTokenized, type TokenizedPhase, watchQuotes } from '../../src/flows/index.ts';
import type { Interceptor, TestWallet } from '../../src/testing/index.ts';
import type { OfferCard, OfferDetails, TokenizedSwapTransaction } from '../../src/wire.ts';
import { CHAIN, failureOf, QUICK, rejects, type Sandbox, startSandbox } from './sandbox.ts';

type Client = Awaited<ReturnType<Sandbox['newUser']>>;

const erc20 = parseAbi([
  'function approve(address spender, uint256 amount)',
  'function balanceOf(address owner) view returns (uint256)',
]);
const AMOUNT = 100_500_000n;
const DAY_S = 86_400;
const DAY_MS = DAY_S * 1000;

let sandbox: Awaited<ReturnType<typeof startSandbox>>;
let causeway: Client;
let offer: OfferDetails;
let summary: OfferCard;
let swap: Hex;
beforeAll(async () => {
  sandbox = await startSandbox({ CAUSEWAY_CLOCK: 'test' });
  causeway = await sandbox.newUser();
  offer = await causeway.offers.get('apple-tokenized');
  summary = (await causeway.offers.get('apple-tokenized', { include: 'summary' })).summary as OfferCard;
  swap = offer.contracts[0]?.address as Hex;
  // Moves the sandbox's clock, which stands still, a day ahead of real time. Otherwise an order could expire during a
  // test, because the flow also compares the order's expiry with this machine's clock.
  await sandbox.control('POST', '/sandbox/clock', { advance_seconds: DAY_S });
  causeway = await sandbox.newUser();
});
afterAll(() => sandbox.stop());
afterEach(() => vi.restoreAllMocks());
beforeEach(() => sandbox.control('POST', '/sandbox/venue', { session: 'regular' }));

const order = (wallet: TestWallet) =>
  ({ offer, chain: CHAIN, wallet, assetId: 'usd-coin', amount: AMOUNT, maxSlippageBps: 100 }) as const;
const attestations = async () => Number((await sandbox.control('POST', '/sandbox/venue', {})).attestations);
const balance = (wallet: TestWallet, assetId: string) =>
  createPublicClient({ chain: sepolia, transport: http(sandbox.overview.chains[0]?.rpc_url) }).readContract({
    address: sandbox.tokenOf(assetId),
    abi: erc20,
    functionName: 'balanceOf',
    args: [wallet.address],
  });
const approve = (wallet: TestWallet, amount: bigint) => {
  const data = encodeFunctionData({ abi: erc20, functionName: 'approve', args: [swap, amount] });
  const params = [{ from: wallet.address, to: sandbox.tokenOf('usd-coin'), data }];
  return wallet.provider.request({ method: 'eth_sendTransaction', params });
};
/** Records the contracts that the wallet is asked to call. */
function recordSends(wallet: TestWallet, interceptor: Interceptor = (call, next) => next(call)) {
  const sent: Hex[] = [];
  wallet.intercept((call, next) => {
    if (call.method === 'eth_sendTransaction') sent.push((call.params as [{ to: Hex }])[0].to);
    return interceptor(call, next);
  });
  return sent;
}
const isOrder = (url: unknown) => String(url).endsWith('/swap/transaction');
/** Returns a client that receives modified orders, as if they were tampered with in transit. */
const tampered = (change: (order: TokenizedSwapTransaction) => Partial<TokenizedSwapTransaction>) =>
  sandbox.newUser({
    fetch: async (url, init) => {
      const reply = await fetch(url, init);
      if (!isOrder(url) || !reply.ok) return reply;
      const body = (await reply.json()) as TokenizedSwapTransaction;
      return Response.json({ ...body, ...change(body) });
    },
  });

describe('buyTokenized', () => {
  test('approves exactly the amount, orders once and receives the ordered quantity', async () => {
    const wallet = await sandbox.newWallet();
    const before = await attestations();
    const sent = recordSends(wallet);
    const phases: TokenizedPhase[] = [];
    const onPhase = (phase: TokenizedPhase) => void phases.push(phase);
    const { received, paid, fee } = await buyTokenized(causeway, order(wallet), { ...QUICK, onPhase });
    expect([paid, fee]).toEqual([AMOUNT, 500_000n]);
    expect(received).toBe(await balance(wallet, 'aaplon'));
    expect(await balance(wallet, 'usd-coin')).toBe(1_000_000_000n - AMOUNT);
    expect(sent).toEqual([sandbox.tokenOf('usd-coin').toLowerCase(), swap.toLowerCase()]);
    expect(await attestations()).toBe(before + 1);
    expect(phases).toEqual([
      ...['connecting', 'checking', 'proving', 'approving', 'confirming_approval'],
      ...['ordering', 'verifying', 'broadcasting', 'confirming'],
    ]);
    const query = {
      token_address: sandbox.tokenOf('usd-coin'),
      owner: wallet.address,
      spender: swap,
      chain: CHAIN,
    } as const;
    expect((await causeway.token.allowance(query)).allowance).toBe('0');
  });

  test.each([
    ['a closed market', { session: 'closed' }, 'market_closed'],
    ['a paused market', { session: 'paused' }, 'market_paused'],
    ['a paused asset', { assets: { AAPLon: { paused: true } } }, 'asset_paused'],
    ['a reached limit', { assets: { AAPLon: { max_notional: '50' } } }, 'limit_reached'],
  ])('reports %s before anything is sent', async (_what, state, code) => {
    const wallet = await sandbox.newWallet();
    const sent = recordSends(wallet);
    await sandbox.control('POST', '/sandbox/venue', state);
    try {
      const error = await failureOf(buyTokenized(causeway, order(wallet), QUICK));
      expect([error.phase, error.code, sent]).toEqual(['checking', code, []]);
    } finally {
      await sandbox.control('POST', '/sandbox/venue', {
        session: 'regular',
        assets: { AAPLon: { paused: false, max_notional: null } },
      });
    }
  });

  test.each<[string, Partial<Parameters<typeof buyTokenized>[1]>, string]>([
    ['an amount above the balance', { amount: 1_000_000_001n }, 'insufficient_balance'],
    ['an asset other than the first funding token', { assetId: 'tether' }, 'asset_not_accepted'],
    ['a chain without a deployment', { chain: 'base_sepolia' }, 'chain_not_supported'],
    ['an unknown symbol', { symbol: 'NOPEon' }, 'symbol_not_found'],
  ])('rejects %s before anything is sent', async (_what, change, code) => {
    const wallet = await sandbox.newWallet();
    const sent = recordSends(wallet);
    const error = await failureOf(buyTokenized(causeway, { ...order(wallet), ...change }, QUICK));
    expect([error.code, sent]).toEqual([code, []]);
  });

  test('uses no attestation if the allowance is revoked before the order', async () => {
    const wallet = await sandbox.newWallet();
    const before = await attestations();
    const client = await sandbox.newUser({
      fetch: async (url, init) => {
        if (isOrder(url)) await approve(wallet, 0n);
        return fetch(url, init);
      },
    });
    const error = await failureOf(buyTokenized(client, order(wallet), QUICK));
    expect([error.phase, error.code]).toEqual(['ordering', 'insufficient_allowance']);
    expect((error.cause as CausewayError).errors).toMatchObject({ required: String(AMOUNT), allowance: '0' });
    expect(await attestations()).toBe(before);
  });

  test("orders only after the service's node has seen the approval", async () => {
    const reads: string[] = [];
    let readsBeforeOrder = 0;
    const client = await sandbox.newUser({
      fetch: async (url, init) => {
        if (isOrder(url)) readsBeforeOrder = reads.length;
        const reply = await fetch(url, init);
        if (!String(url).includes('/token/allowance')) return reply;
        // Simulates a lagging node: the first three reads after the approval do not see it.
        const body = (await reply.json()) as { allowance: string };
        const lagging = { ...body, allowance: reads.length < 4 ? '0' : body.allowance };
        reads.push(lagging.allowance);
        return Response.json(lagging);
      },
    });
    const { paid } = await buyTokenized(client, order(await sandbox.newWallet()), QUICK);
    expect(paid).toBe(AMOUNT);
    expect(reads).toEqual(['0', '0', '0', '0', String(AMOUNT)]);
    expect(readsBeforeOrder).toBe(5);
  });

  test('retries a lost response with the same key and uses one attestation', async () => {
    const wallet = await sandbox.newWallet();
    const before = await attestations();
    let attempts = 0;
    const client = await sandbox.newUser({
      fetch: async (url, init) => {
        const reply = await fetch(url, init);
        if (isOrder(url) && attempts++ === 0) throw new TypeError('connection lost');
        return reply;
      },
    });
    const { received } = await buyTokenized(client, order(wallet), QUICK);
    expect([attempts, received > 0n]).toEqual([2, true]);
    expect(await attestations()).toBe(before + 1);
  });

  test('resumes the order of a confirmation after a rejection, and blocks a second confirmation', async () => {
    const wallet = await sandbox.newWallet();
    await approve(wallet, AMOUNT);
    const before = await attestations();
    wallet.intercept(rejects('eth_sendTransaction'));
    const confirmed = { ...order(wallet), confirmationId: crypto.randomUUID() };
    const rejected = await failureOf(buyTokenized(causeway, confirmed, QUICK));
    expect([rejected.phase, rejected.code]).toEqual(['broadcasting', 'user_rejected']);
    const other = await failureOf(buyTokenized(causeway, order(wallet), QUICK));
    expect([other.phase, other.code]).toEqual(['ordering', 'order_outstanding']);
    expect(other.details.expires_at).toMatch(/^\d{4}-/);
    wallet.intercept(undefined);
    const { received } = await buyTokenized(causeway, confirmed, QUICK);
    expect(received).toBe(await balance(wallet, 'aaplon'));
    expect(await attestations()).toBe(before + 1);
  });

  test('does not send an order for less than the minimum', async () => {
    const wallet = await sandbox.newWallet();
    const sent = recordSends(wallet);
    const error = await failureOf(
      buyTokenized(causeway, { ...order(wallet), minReceive: 10n ** 20n }, QUICK),
    );
    expect([error.phase, error.code]).toEqual(['verifying', 'price_moved']);
    expect(sent).not.toContain(swap.toLowerCase());
  });

  test.each<[string, () => Partial<Parameters<typeof buyTokenized>[1]>]>([
    ['the fee of the offer it got', () => ({ offer: { ...offer, summary: { ...summary, fee_bps: 49 } } })],
    ['no fee', () => ({ offer: { ...offer, summary: { ...summary, fee_bps: null } } })],
    ['the fee it was given', () => ({ maxFeeBps: 49 })],
  ])('does not send an order that takes more than %s', async (_what, change) => {
    const wallet = await sandbox.newWallet();
    await approve(wallet, AMOUNT);
    const sent = recordSends(wallet);
    const client = await sandbox.newUser();
    const error = await failureOf(buyTokenized(client, { ...order(wallet), ...change() }, QUICK));
    expect([error.phase, error.code, sent]).toEqual(['verifying', 'fee_changed', []]);
    expect(error.details).toMatchObject({ actual_bps: 50 });
  });

  test.each([-1, 10_001, 0.5, Number.NaN])('rejects %d as the maximum fee', async (maxFeeBps) => {
    const input = { ...order(await sandbox.newWallet()), maxFeeBps };
    const error = await failureOf(buyTokenized(causeway, input, QUICK));
    expect([error.phase, error.code]).toEqual(['connecting', 'invalid_input']);
  });

  /**
   * Lets an order expire. At the first call to `method` after the order has arrived, advances the time and mines a
   * block, so that the chain sees the new time.
   */
  const advancesTime = (method: string): [Interceptor, (phase: TokenizedPhase) => void] => {
    let isDue = false;
    let isDone = false;
    return [
      async (call, next) => {
        if (isDue && !isDone && call.method === method) {
          isDone = true;
          await sandbox.control('POST', '/sandbox/clock', { advance_seconds: 600 });
          await sandbox.mine(1);
        }
        return next(call);
      },
      (phase) => {
        isDue ||= phase === 'verifying';
      },
    ];
  };

  test.each(['eth_chainId', 'eth_getBlockByNumber', 'eth_call'])(
    'does not send an order that expires before %s',
    async (method) => {
      const wallet = await sandbox.newWallet();
      await approve(wallet, AMOUNT);
      const [interceptor, onPhase] = advancesTime(method);
      const sent = recordSends(wallet, interceptor);
      const client = await sandbox.newUser();
      const error = await failureOf(buyTokenized(client, order(wallet), { ...QUICK, onPhase }));
      expect([error.phase, error.code, sent]).toEqual(['verifying', 'quote_expired', []]);
    },
  );

  test("does not send an order that expires by the machine's clock", async () => {
    const wallet = await sandbox.newWallet();
    await approve(wallet, AMOUNT);
    const real = Date.now.bind(Date);
    const sent = recordSends(wallet, (call, next) => {
      if (call.method === 'eth_getBlockByNumber')
        vi.spyOn(Date, 'now').mockImplementation(() => real() + 2 * DAY_MS);
      return next(call);
    });
    const error = await failureOf(buyTokenized(await sandbox.newUser(), order(wallet), QUICK));
    expect([error.phase, error.code, sent]).toEqual(['verifying', 'quote_expired', []]);
  });

  test('works on a machine whose clock is far ahead', async () => {
    const real = Date.now.bind(Date);
    vi.spyOn(Date, 'now').mockImplementation(() => real() + 2 * DAY_MS);
    const { paid } = await buyTokenized(await sandbox.newUser(), order(await sandbox.newWallet()), QUICK);
    expect(paid).toBe(AMOUNT);
  });

  test('reports the revert reason if the order expires while the owner decides', async () => {
    const wallet = await sandbox.newWallet();
    await approve(wallet, AMOUNT);
    wallet.intercept(async (call, next) => {
      if (call.method !== 'eth_sendTransaction') return next(call);
      await sandbox.control('POST', '/sandbox/clock', { advance_seconds: 600 });
      return next({ ...call, params: [{ ...(call.params as [object])[0], gas: '0x7a120' }] });
    });
    const client = await sandbox.newUser();
    const error = await failureOf(buyTokenized(client, order(wallet), QUICK));
    expect([error.phase, error.code]).toEqual(['confirming', 'transaction_reverted']);
    expect(error.details.reason).toBe('AttestationExpired');
    expect(await balance(wallet, 'usd-coin')).toBe(1_000_000_000n);
  });

  /** Flips a bit in one 32-byte word of the calldata's arguments. */
  const flip = (data: string, word: number) => {
    const at = 10 + word * 64 + 62;
    const byte = (Number.parseInt(data.slice(at, at + 2), 16) ^ 1).toString(16).padStart(2, '0');
    return `${data.slice(0, at)}${byte}${data.slice(at + 2)}`;
  };

  test.each<[string, (order: TokenizedSwapTransaction) => Partial<TokenizedSwapTransaction>]>([
    ['attestation', ({ data }) => ({ data: flip(data, 1) })],
    ['asset', ({ data }) => ({ data: flip(data, 3) })],
    ['price', ({ data }) => ({ data: flip(data, 4) })],
    ['funding token', ({ data }) => ({ data: flip(data, 10) })],
    ['payment', ({ data }) => ({ data: flip(data, 11) })],
    ['padding', ({ data }) => ({ data: `${data}00` })],
    ['contract', () => ({ to: sandbox.tokenOf('usd-coin') })],
    ['claimed payment', () => ({ pay_input_amount: '1' })],
    ['claimed quantity', () => ({ receive_output_amount: '999999999999999999999' })],
    ['claimed fee', () => ({ fee: '0' })],
  ])('finds a changed %s before it prompts the wallet', async (_what, change) => {
    const wallet = await sandbox.newWallet();
    await approve(wallet, AMOUNT);
    const sent = recordSends(wallet);
    const error = await failureOf(buyTokenized(await tampered(change), order(wallet), QUICK));
    expect([error.phase, error.code, sent]).toEqual(['verifying', 'calldata_refused', []]);
    expect(error.details.findings).not.toEqual([]);
  });

  test('simulates the call even without verification', async () => {
    const wallet = await sandbox.newWallet();
    await approve(wallet, AMOUNT);
    const sent = recordSends(wallet);
    const client = await tampered(({ data }) => ({ data: flip(data, 4) }));
    const error = await failureOf(buyTokenized(client, { ...order(wallet), verify: false }, QUICK));
    expect([error.phase, error.code, sent]).toEqual(['verifying', 'contract_reverted', []]);
  });

  test('sends nothing if it is aborted during the order', async () => {
    const wallet = await sandbox.newWallet();
    await approve(wallet, AMOUNT);
    const sent = recordSends(wallet);
    const controller = new AbortController();
    const client = await sandbox.newUser({
      fetch: (url, init) => {
        if (isOrder(url)) controller.abort();
        return fetch(url, init);
      },
    });
    const options = { ...QUICK, signal: controller.signal };
    const error = await failureOf(buyTokenized(client, order(wallet), options));
    expect([error.phase, error.code, sent]).toEqual(['ordering', 'aborted', []]);
  });
});

describe('watchQuotes', () => {
  const query = { symbol: 'AAPLon', side: 'buy', notional_value: '100' } as const;

  test('yields quotes, and errors while the market is closed, until it is aborted', async () => {
    const client = await sandbox.newUser();
    const controller = new AbortController();
    const seen: (string | undefined)[] = [];
    const options = { intervalMs: 500, signal: controller.signal };
    for await (const { quote, error } of watchQuotes(client, query, options)) {
      seen.push(quote?.symbol ?? error?.code);
      if (seen.length === 1) await sandbox.control('POST', '/sandbox/venue', { session: 'closed' });
      if (seen.length === 2) await sandbox.control('POST', '/sandbox/venue', { session: 'regular' });
      if (seen.length === 3) controller.abort();
    }
    expect(seen).toEqual(['AAPLon', 'market_closed', 'AAPLon']);
  });

  test('keeps the minimum interval, and polls never overlap', async () => {
    const startTimes: number[] = [];
    let running = 0;
    let maxRunning = 0;
    const client = await sandbox.newUser({
      fetch: async (url, init) => {
        startTimes.push(performance.now());
        maxRunning = Math.max(maxRunning, ++running);
        return fetch(url, init).finally(() => running--);
      },
    });
    let count = 0;
    for await (const _ of watchQuotes(client, query, { intervalMs: 1 })) if (++count === 3) break;
    const gaps = startTimes.slice(1).map((time, i) => time - (startTimes[i] ?? 0));
    expect(maxRunning).toBe(1);
    // The minimum interval is 500 ms, but timers may fire slightly early.
    for (const gap of gaps) expect(gap).toBeGreaterThan(490);
  });

  test('throws a permanent error', async () => {
    const watch = watchQuotes(causeway, { ...query, symbol: 'NOPEon' });
    await expect(watch.next()).rejects.toMatchObject({ code: 'symbol_not_found' });
  });

  test('yields nothing if the signal is already aborted', async () => {
    const watch = watchQuotes(causeway, query, { signal: AbortSignal.abort() });
    expect(await watch.next()).toEqual({ done: true, value: undefined });
  });
});
