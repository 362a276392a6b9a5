import type { Hex } from 'viem';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createCauseway } from '../../client.ts';
import { FlowError, type FlowOptions } from '../../flows/flow.ts';
import type { TokenSalePhase } from '../../flows/sale-purchase.ts';
import type { EvmWallet } from '../../flows/wallet.ts';
import type { OfferDetails, Participation } from '../../wire.ts';
import * as allFlows from '../flows.ts';
import type { Flows } from '../hooks/use-flow.ts';
import { buySale, discardSale, revokeUnused } from './buy-sale.ts';
import { runExclusively, swapLock } from './run-exclusively.ts';
import { isSameAccount, type UnfinishedSale } from './unfinished-sale.ts';

const HASH = `0x${'ab'.repeat(32)}`;
const FUND = `0x${'f1'.repeat(20)}`;
const PURCHASE: UnfinishedSale = {
  ...{
    id: 'i',
    offerId: 'offer',
    fund: FUND,
    optionId: 'o',
    assetId: 'usd-coin',
    amount: '50',
    wallet: '0xAb',
    approvalHash: null,
  },
  chain: 'base_sepolia',
};

/** The approved purchases from other offers. */
let others: UnfinishedSale[];

beforeEach(() => {
  others = [];
  const items = new Map<string, string>();
  vi.stubGlobal('navigator', {});
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => void items.set(key, value),
    removeItem: (key: string) => void items.delete(key),
  });
});
afterEach(() => {
  vi.unstubAllGlobals();
});

type Run = (options: FlowOptions<TokenSalePhase>) => Promise<Participation>;

/** Simulates the purchase records in browser storage. */
function createRecords(...stored: UnfinishedSale[]) {
  const sales = new Map(stored.map((sale) => [sale.id, sale]));
  const recorded = {
    ...{ lock: 'sales', sales: [], read: () => [...sales.values()], readOthers: () => others },
    record: (sale: UnfinishedSale) => void sales.set(sale.id, sale),
    remove: (id: string) => void sales.delete(id),
  };
  return { sales, recorded };
}

const wallet: EvmWallet = {
  ...{ protocol: 'ethereum', address: '0xAb', provider: { request: async () => null } },
};
const offer = {
  ...{ id: 'offer', type: 'platform::token_sale' },
  contracts: [
    { chain: 'base_sepolia', address: FUND },
    { chain: 'solana_devnet', address: 'fund' },
  ],
} as OfferDetails;

const NOT_FOUND = { type: 'api_error', code: 'not_found', message: 'Not found.', errors: {}, event_id: 'e' };

/** Creates a client for a service that has these participations. The user may buy from every offer except `ended`. */
const clientOf = (...data: Partial<Participation>[]) =>
  createCauseway({
    ...{ baseUrl: 'http://service.test', accessToken: 't' },
    fetch: async (input) => {
      const [, id] = /\/offers\/(\w+)\/eligibility/.exec(String(input)) ?? [];
      if (id === undefined) return Response.json({ object: 'list', data });
      if (id === 'gone') return Response.json(NOT_FOUND, { status: 404 });
      return Response.json({ eligible: id !== 'ended' });
    },
  });

/** Starts a purchase with the flow `run`. Returns the recorded sales, and the result or the error code. */
function start(run: Run, isResumed = false, purchase?: UnfinishedSale) {
  const { sales, recorded } = createRecords(...(isResumed && purchase ? [purchase] : []));
  const flows = { ...allFlows, runTokenSale: (_: unknown, __: unknown, options) => run(options) } as Flows;
  const sale = {
    ...{ offer, wallet, recorded, onApprovalUsed: () => undefined, reset: () => undefined },
    attempt: { purchase: purchase ?? PURCHASE, isResumed, canRetry: true, wasRecorded: isResumed },
  };
  return { sales, done: buySale(flows, clientOf(), sale, {}).catch(({ code }) => code) };
}

const aborted = (phase: TokenSalePhase = 'approving') => new FlowError(phase, 'aborted', 'aborted');
/** Waits long enough even for a busy machine. */
const eventually = (check: () => void) => vi.waitFor(check, { timeout: 30_000 });

test('an aborted purchase without a prompt leaves no record', async () => {
  const { sales, done } = start(async () => {
    throw aborted();
  });
  expect([await done, sales.size]).toEqual(['aborted', 0]);
});

test('an earlier transaction that the wallet has answered leaves no record either', async () => {
  const { sales, done } = start(async ({ onSend, onTransaction }) => {
    onSend?.(Promise.resolve(HASH));
    onTransaction?.({ phase: 'resetting_allowance', hash: HASH });
    throw aborted();
  });
  expect([await done, sales.size]).toEqual(['aborted', 0]);
});

test.each([
  ['declined', { code: 4001 }, []],
  ['declined, in the error of a library', { cause: { code: 4001 } }, []],
  ['lost', new TypeError('Failed to fetch'), [null]],
])('a prompt that outlives its page and is %s', async (_how, failure, hashes) => {
  let decide: (failure: unknown) => void = () => undefined;
  const { sales, done } = start(async ({ onSend }) => {
    onSend?.(new Promise((_, reject) => (decide = reject)));
    throw aborted();
  });
  await eventually(() => expect(sales.size).toBe(1));
  // No page can start a purchase until the owner has answered the prompt.
  expect(await start(async () => ({}) as Participation).done).toBe('purchase_elsewhere');
  decide(failure);
  expect(await done).toBe('aborted');
  expect([...sales.values()].map(({ approvalHash }) => approvalHash)).toEqual(hashes);
  expect(await start(async () => ({}) as Participation).done).toEqual({});
});

test('a prompt that outlives its page and is approved leaves a purchase to finish', async () => {
  let approve = () => undefined as unknown;
  const { sales, done } = start(async ({ onSend, onTransaction }) => {
    const answer = new Promise((resolve) => (approve = () => resolve(HASH)));
    answer.then(() => onTransaction?.({ phase: 'approving', hash: HASH }));
    onSend?.(answer);
    throw aborted();
  });
  await eventually(() => expect(sales.size).toBe(1));
  approve();
  await done;
  expect(sales.get('i')?.approvalHash).toBe(HASH);
});

test('a reset of the allowance that outlives its page leaves nothing to finish', async () => {
  let approve = () => undefined as unknown;
  const { sales, done } = start(async ({ onSend }) => {
    onSend?.(new Promise((resolve) => (approve = () => resolve(HASH))));
    throw aborted('resetting_allowance');
  });
  await eventually(() => expect(sales.size).toBe(1));
  approve();
  expect([await done, sales.size]).toEqual(['aborted', 0]);
});

test.each([
  ['resetting_allowance', 0],
  ['approving', 1],
] as const)('an unknown outcome of %s leaves %i purchases to finish', async (phase, count) => {
  const { sales, done } = start(async () => {
    throw new FlowError(phase, 'outcome_unknown', 'lost');
  });
  expect([await done, sales.size]).toEqual(['outcome_unknown', count]);
});

test('a purchase that another tab has finished or discarded is closed', async () => {
  const run = vi.fn();
  expect([await start(run, true).done, run.mock.calls.length]).toEqual(['purchase_closed', 0]);
  const { recorded } = createRecords();
  await expect(discardSale(clientOf(), { offer, purchase: PURCHASE, recorded }, run)).rejects.toMatchObject({
    code: 'purchase_closed',
  });
  expect(run).not.toHaveBeenCalled();
});

describe('an approved purchase from another offer', () => {
  const approved = {
    ...PURCHASE,
    id: 'a',
    offerId: 'other',
    fund: FUND.replace('f', 'F'),
    approvalHash: HASH,
  };
  const solana = { ...approved, chain: 'solana_devnet', fund: 'another' } as const;

  test.each<[string, UnfinishedSale]>([
    ['the same contract', approved],
    ['the same token on Solana', solana],
  ])('keeps its approval: no purchase with %s replaces it', async (_what, other) => {
    others = [other];
    const run = vi.fn();
    for (const isResumed of [false, true]) {
      const { sales, done } = start(run, isResumed, { ...PURCHASE, chain: other.chain });
      expect([await done, sales.size]).toEqual(['purchase_elsewhere', isResumed ? 1 : 0]);
    }
    expect(run).not.toHaveBeenCalled();
  });

  test('stops no purchase that has its own approval', async () => {
    others = [approved];
    const { done } = start(async () => ({}) as Participation, true, { ...PURCHASE, approvalHash: HASH });
    expect(await done).toEqual({});
  });

  test.each<[string, UnfinishedSale]>([
    ['has another contract', { ...approved, fund: `0x${'f2'.repeat(20)}` }],
    ['has another token', { ...approved, assetId: 'tether' }],
    ['has another wallet', { ...approved, wallet: '0xcd' }],
    ['is on another chain', { ...approved, chain: 'ethereum_sepolia' }],
    ['cannot be finished any more', { ...approved, offerId: 'ended' }],
    ['belongs to an offer that the user may not see', { ...approved, offerId: 'gone' }],
  ])('stops no purchase if it %s', async (_why, other) => {
    others = [other];
    expect(await start(async () => ({}) as Participation).done).toEqual({});
  });

  test('keeps its approval: none of the offer is open, and none can be revoked', async () => {
    const work = vi.fn();
    const approval = { chain: 'base_sepolia', assetId: 'usd-coin', amount: '50' } as const;
    others = [approved];
    const sale = { offer, wallet, approval, ...createRecords() };
    await expect(revokeUnused(clientOf(), sale, work)).rejects.toMatchObject({ code: 'purchase_elsewhere' });
    const mine = { offer, purchase: PURCHASE, ...createRecords(PURCHASE) };
    await expect(discardSale(clientOf(), mine, work)).rejects.toMatchObject({ code: 'purchase_elsewhere' });
    expect([work.mock.calls.length, mine.sales.size]).toEqual([0, 1]);
    // Without a revocation, the purchase can be discarded.
    await discardSale(clientOf(), mine);
    expect(mine.sales.size).toBe(0);
  });
});

test('a discarded purchase does not revoke the allowance that a participation needs', async () => {
  const asset = { id: 'usd-coin' } as Participation['asset'];
  const pending = { offer_id: 'offer', chain: 'base_sepolia', asset, wallet_address: '0xab' } as const;
  const work = vi.fn();
  const { sales, recorded } = createRecords({ ...PURCHASE, approvalHash: HASH });
  const sale = { offer, purchase: { ...PURCHASE, approvalHash: HASH }, recorded };
  await expect(discardSale(clientOf(pending), sale, work)).rejects.toMatchObject({
    code: 'purchase_elsewhere',
  });
  expect([work.mock.calls.length, sales.size]).toEqual([0, 1]);
});

describe('the revocation of an approval that no purchase uses', () => {
  const approval = { chain: 'base_sepolia', assetId: 'usd-coin', amount: '50' } as const;

  test('keeps purchases out until it is done', async () => {
    let finish = () => undefined as unknown;
    const work = vi.fn(() => new Promise((resolve) => (finish = () => resolve(HASH))));
    const { recorded } = createRecords();
    const revoked = revokeUnused(clientOf(), { offer, wallet, approval, recorded }, work);
    await eventually(() => expect(work).toHaveBeenCalled());
    expect(await start(async () => ({}) as Participation).done).toBe('purchase_elsewhere');
    finish();
    await revoked;
    expect(await start(async () => ({}) as Participation).done).toEqual({});
  });

  test('is refused while the wallet buys from another offer', async () => {
    let finish = () => undefined as unknown;
    const run = vi.fn(
      () => new Promise<Participation>((resolve) => (finish = () => resolve({} as Participation))),
    );
    const { done } = start(run);
    await eventually(() => expect(run).toHaveBeenCalled());
    const work = vi.fn();
    const { recorded } = createRecords();
    const other = { offer: { ...offer, id: 'other' }, recorded: { ...recorded, lock: 'other sales' } };
    const revoke = (address: Hex) =>
      revokeUnused(clientOf(), { ...other, wallet: { ...wallet, address }, approval }, work);
    await expect(revoke('0xAB')).rejects.toMatchObject({ code: 'purchase_elsewhere' });
    expect(work).not.toHaveBeenCalled();
    await revoke('0xCD');
    finish();
    await done;
    await revoke('0xAB');
    expect(work).toHaveBeenCalledTimes(2);
  });

  // A wallet has one lock for all swap offers, because offers with the same contract share an allowance. The lock
  // ignores the letter case of the wallet's address.
  test.each(['fund::swap', 'tokenized::swap'] as const)(
    'of a %s offer is refused while the wallet swaps',
    async (type) => {
      let finish = () => undefined as unknown;
      const swap = vi.fn(() => new Promise((resolve) => (finish = () => resolve(HASH))));
      const swapped = runExclusively(swapLock({ address: '0xAB' }), swap);
      await eventually(() => expect(swap).toHaveBeenCalled());
      const work = vi.fn();
      const revoke = () =>
        revokeUnused(clientOf(), { offer: { ...offer, type }, wallet, approval, ...createRecords() }, work);
      await expect(revoke()).rejects.toMatchObject({ code: 'purchase_elsewhere' });
      expect(work).not.toHaveBeenCalled();
      finish();
      await swapped;
      await revoke();
      expect(work).toHaveBeenCalledTimes(1);
    },
  );

  test('is refused if a purchase has come to need the approval', async () => {
    const work = vi.fn();
    const revoke = (stored: UnfinishedSale[], ...found: Partial<Participation>[]) =>
      revokeUnused(clientOf(...found), { offer, wallet, approval, ...createRecords(...stored) }, work);
    const asset = { id: 'usd-coin' } as Participation['asset'];
    const pending = { offer_id: 'offer', chain: 'base_sepolia', asset, wallet_address: '0xab' } as const;
    await expect(revoke([], pending)).rejects.toMatchObject({ code: 'purchase_elsewhere' });
    await expect(revoke([{ ...PURCHASE, approvalHash: HASH }])).rejects.toMatchObject({
      code: 'purchase_elsewhere',
    });
    expect(work).not.toHaveBeenCalled();
    await revoke([PURCHASE], { ...pending, chain: 'ethereum_sepolia' });
    expect(work).toHaveBeenCalledTimes(1);
  });
});

test('two purchases share an allowance whatever the case of the address, except on Solana', () => {
  expect(isSameAccount(PURCHASE, { ...PURCHASE, wallet: '0xaB' })).toBe(true);
  expect(isSameAccount(PURCHASE, { ...PURCHASE, assetId: 'tether' })).toBe(false);
  const solana = { ...PURCHASE, chain: 'solana_devnet', wallet: 'Ab' } as const;
  expect(isSameAccount(solana, { ...solana, wallet: 'aB' })).toBe(false);
});
