import { createPublicClient, http, parseAbi } from 'viem';
import { sepolia } from 'viem/chains';
import { encodeFunctionData } from 'viem/utils';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { CausewayError } from '../../src/error.ts';
import { buyTokenized, type TokenizedPhase, watchQuotes } from '../../src/flows/index.ts';
import type { Interceptor, TestWallet } from '../../src/testing/index.ts';
import type { OfferDetails, TokenizedSwapTransaction } from '../../src/wire.ts';
import { CHAIN, failureOf, QUICK, rejects, type Sandbox, startSandbox } from './sandbox.ts';

type Hex = `0x${string}`;
type Client = Awaited<ReturnType<Sandbox['newUser']>>;

const erc20 = parseAbi([
  'function approve(address spender, uint256 amount)',
  'function balanceOf(address owner) view returns (uint256)',
]);
const AMOUNT = 100_500_000n;
const DAY = 86_400;

let sandbox: Sandbox;
let causeway: Client;
let offer: OfferDetails;
let swap: Hex;
beforeAll(async () => {
  sandbox = await startSandbox({ CAUSEWAY_CLOCK: 'test' });
  causeway = await sandbox.newUser();
  offer = await causeway.offers.get('apple-tokenized');
  swap = offer.contracts[0]?.address as Hex;
  // The clock stands still; ahead of ours, so that no order runs out by ours while a test takes its time.
  await sandbox.control('POST', '/sandbox/clock', { advance_seconds: DAY });
  causeway = await sandbox.newUser();
});
afterAll(() => sandbox.stop());
afterEach(() => vi.restoreAllMocks());
beforeEach(() => sandbox.control('POST', '/sandbox/venue', { session: 'regular' }));

const order = (wallet: TestWallet) =>
  ({ offer, chain: CHAIN, wallet, assetId: 'usd-coin', amount: AMOUNT }) as const;
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
/** The contracts that the wallet was asked to call. */
function recording(wallet: TestWallet, lie: Interceptor = (call, next) => next(call)) {
  const sent: Hex[] = [];
  wallet.intercept((call, next) => {
    if (call.method === 'eth_sendTransaction') sent.push((call.params as [{ to: Hex }])[0].to);
    return lie(call, next);
  });
  return sent;
}
const isOrder = (url: unknown) => String(url).endsWith('/swap/transaction');
/** A client whose orders come back changed. */
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
  test('approves exactly the amount, orders once and receives what the order said', async () => {
    const wallet = await sandbox.newWallet();
    const before = await attestations();
    const sent = recording(wallet);
    const phases: TokenizedPhase[] = [];
    const onPhase = (phase: TokenizedPhase) => void phases.push(phase);
    const { received, paid, fee } = await buyTokenized(causeway, order(wallet), { ...QUICK, onPhase });
    expect([paid, fee]).toEqual([AMOUNT, 500_000n]);
    expect(received).toBe(await balance(wallet, 'aaplon'));
    expect(await balance(wallet, 'usd-coin')).toBe(1_000_000_000n - AMOUNT);
    expect(sent).toEqual([sandbox.tokenOf('usd-coin').toLowerCase(), swap.toLowerCase()]);
    expect(await attestations()).toBe(before + 1);
    expect(phases).toEqual([
      ...['connecting', 'checking', 'approving', 'confirming_approval'],
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
    ['a limit', { assets: { AAPLon: { max_notional: '50' } } }, 'limit_reached'],
  ])('%s is told with its code before anything is sent', async (_what, state, code) => {
    const wallet = await sandbox.newWallet();
    const sent = recording(wallet);
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
    ['more than the wallet holds', { amount: 1_000_000_001n }, 'insufficient_balance'],
    ['another asset than the first', { assetId: 'tether' }, 'asset_not_accepted'],
    ['a chain without a deployment', { chain: 'base_sepolia' }, 'chain_not_supported'],
    ['a symbol that nobody knows', { symbol: 'NOPEon' }, 'symbol_not_found'],
  ])('%s is refused before anything is sent', async (_what, change, code) => {
    const wallet = await sandbox.newWallet();
    const sent = recording(wallet);
    const error = await failureOf(buyTokenized(causeway, { ...order(wallet), ...change }, QUICK));
    expect([error.code, sent]).toEqual([code, []]);
  });

  test('an allowance that is taken back before the order is told by the service, and nothing is attested', async () => {
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

  test("an order waits until the service's node has seen the approval", async () => {
    const looks: string[] = [];
    let ordered = 0;
    const client = await sandbox.newUser({
      fetch: async (url, init) => {
        if (isOrder(url)) ordered = looks.length;
        const reply = await fetch(url, init);
        if (!String(url).includes('/token/allowance')) return reply;
        // As a node that is a block behind for three looks would have it answered.
        const body = (await reply.json()) as { allowance: string };
        const seen = { ...body, allowance: looks.length < 4 ? '0' : body.allowance };
        looks.push(seen.allowance);
        return Response.json(seen);
      },
    });
    const { paid } = await buyTokenized(client, order(await sandbox.newWallet()), QUICK);
    expect(paid).toBe(AMOUNT);
    expect(looks).toEqual(['0', '0', '0', '0', String(AMOUNT)]);
    expect(ordered).toBe(5);
  });

  test('an answer that is lost is asked for again under the same key: one attestation', async () => {
    const wallet = await sandbox.newWallet();
    const before = await attestations();
    let lost = 0;
    const client = await sandbox.newUser({
      fetch: async (url, init) => {
        const reply = await fetch(url, init);
        if (isOrder(url) && lost++ === 0) throw new TypeError('connection lost');
        return reply;
      },
    });
    const { received } = await buyTokenized(client, order(wallet), QUICK);
    expect([lost, received > 0n]).toEqual([2, true]);
    expect(await attestations()).toBe(before + 1);
  });

  test('one confirmation is one order: after a no the same one goes on, another one hears of it', async () => {
    const wallet = await sandbox.newWallet();
    await approve(wallet, AMOUNT);
    const before = await attestations();
    wallet.intercept(rejects('eth_sendTransaction'));
    const confirmed = { ...order(wallet), confirmationId: crypto.randomUUID() };
    const refused = await failureOf(buyTokenized(causeway, confirmed, QUICK));
    expect([refused.phase, refused.code]).toEqual(['broadcasting', 'user_rejected']);
    const other = await failureOf(buyTokenized(causeway, order(wallet), QUICK));
    expect([other.phase, other.code]).toEqual(['ordering', 'order_outstanding']);
    expect(other.details.expires_at).toMatch(/^\d{4}-/);
    wallet.intercept(undefined);
    const { received } = await buyTokenized(causeway, confirmed, QUICK);
    expect(received).toBe(await balance(wallet, 'aaplon'));
    expect(await attestations()).toBe(before + 1);
  });

  test('an order that gives less than asked for is not sent', async () => {
    const wallet = await sandbox.newWallet();
    const sent = recording(wallet);
    const error = await failureOf(
      buyTokenized(causeway, { ...order(wallet), minReceive: 10n ** 20n }, QUICK),
    );
    expect([error.phase, error.code]).toEqual(['verifying', 'price_moved']);
    expect(sent).not.toContain(swap.toLowerCase());
  });

  /** Lets time pass once the order is there; a block tells the chain of it. */
  const passesTime = (method: string): [Interceptor, (phase: TokenizedPhase) => void] => {
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
    'an order that runs out before it is sent (at %s) is not sent',
    async (method) => {
      const wallet = await sandbox.newWallet();
      await approve(wallet, AMOUNT);
      const [lie, onPhase] = passesTime(method);
      const sent = recording(wallet, lie);
      const client = await sandbox.newUser();
      const error = await failureOf(buyTokenized(client, order(wallet), { ...QUICK, onPhase }));
      expect([error.phase, error.code, sent]).toEqual(['verifying', 'quote_expired', []]);
    },
  );

  test('an order that runs out by the clock of the machine is not sent either', async () => {
    const wallet = await sandbox.newWallet();
    await approve(wallet, AMOUNT);
    const real = Date.now.bind(Date);
    const sent = recording(wallet, (call, next) => {
      if (call.method === 'eth_getBlockByNumber')
        vi.spyOn(Date, 'now').mockImplementation(() => real() + 2 * DAY * 1000);
      return next(call);
    });
    const error = await failureOf(buyTokenized(await sandbox.newUser(), order(wallet), QUICK));
    expect([error.phase, error.code, sent]).toEqual(['verifying', 'quote_expired', []]);
  });

  test('a machine whose clock is far ahead can trade all the same', async () => {
    const real = Date.now.bind(Date);
    vi.spyOn(Date, 'now').mockImplementation(() => real() + 2 * DAY * 1000);
    const { paid } = await buyTokenized(await sandbox.newUser(), order(await sandbox.newWallet()), QUICK);
    expect(paid).toBe(AMOUNT);
  });

  test('one that runs out while the owner thinks reverts, and says why', async () => {
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

  /** Flips a bit of one word of the arguments. */
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
    ['said payment', () => ({ pay_input_amount: '1' })],
    ['said quantity', () => ({ receive_output_amount: '999999999999999999999' })],
    ['said fee', () => ({ fee: '0' })],
  ])('a changed %s is found before the wallet is asked', async (_what, change) => {
    const wallet = await sandbox.newWallet();
    await approve(wallet, AMOUNT);
    const sent = recording(wallet);
    const error = await failureOf(buyTokenized(await tampered(change), order(wallet), QUICK));
    expect([error.phase, error.code, sent]).toEqual(['verifying', 'calldata_refused', []]);
    expect(error.details.findings).not.toEqual([]);
  });

  test('unverified, what the contract would refuse is still not sent', async () => {
    const wallet = await sandbox.newWallet();
    await approve(wallet, AMOUNT);
    const sent = recording(wallet);
    const client = await tampered(({ data }) => ({ data: flip(data, 4) }));
    const error = await failureOf(buyTokenized(client, { ...order(wallet), verify: false }, QUICK));
    expect([error.phase, error.code, sent]).toEqual(['verifying', 'contract_reverted', []]);
  });

  test('an abort while the order is placed sends nothing', async () => {
    const wallet = await sandbox.newWallet();
    await approve(wallet, AMOUNT);
    const sent = recording(wallet);
    const stop = new AbortController();
    const client = await sandbox.newUser({
      fetch: (url, init) => {
        if (isOrder(url)) stop.abort();
        return fetch(url, init);
      },
    });
    const error = await failureOf(buyTokenized(client, order(wallet), { ...QUICK, signal: stop.signal }));
    expect([error.phase, error.code, sent]).toEqual(['ordering', 'aborted', []]);
  });
});

describe('watchQuotes', () => {
  const query = { symbol: 'AAPLon', side: 'buy', notional_value: '100' } as const;

  test('gives quotes, and errors in their place while the market is closed, until its signal', async () => {
    const client = await sandbox.newUser();
    const stop = new AbortController();
    const seen: (string | undefined)[] = [];
    for await (const { quote, error } of watchQuotes(client, query, { every: 500, signal: stop.signal })) {
      seen.push(quote?.symbol ?? error?.code);
      if (seen.length === 1) await sandbox.control('POST', '/sandbox/venue', { session: 'closed' });
      if (seen.length === 2) await sandbox.control('POST', '/sandbox/venue', { session: 'regular' });
      if (seen.length === 3) stop.abort();
    }
    expect(seen).toEqual(['AAPLon', 'market_closed', 'AAPLon']);
  });

  test('keeps its pace: never two polls at a time, none sooner than asked for', async () => {
    const begun: number[] = [];
    let running = 0;
    let most = 0;
    const client = await sandbox.newUser({
      fetch: async (url, init) => {
        begun.push(performance.now());
        most = Math.max(most, ++running);
        return fetch(url, init).finally(() => running--);
      },
    });
    let count = 0;
    for await (const _ of watchQuotes(client, query, { every: 1 })) if (++count === 3) break;
    const gaps = begun.slice(1).map((at, i) => at - (begun[i] ?? 0));
    expect(most).toBe(1);
    // Timers may be early by a fraction of a millisecond.
    for (const gap of gaps) expect(gap).toBeGreaterThan(490);
  });

  test('what no later poll could mend is thrown', async () => {
    const watch = watchQuotes(causeway, { ...query, symbol: 'NOPEon' });
    await expect(watch.next()).rejects.toMatchObject({ code: 'symbol_not_found' });
  });

  test('an aborted signal gives nothing', async () => {
    const watch = watchQuotes(causeway, query, { signal: AbortSignal.abort() });
    expect(await watch.next()).toEqual({ done: true, value: undefined });
  });
});
