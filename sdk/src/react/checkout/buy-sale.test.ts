import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createCauseway } from '../../client.ts';
import { FlowError, type FlowOptions } from '../../flows/flow.ts';
import type { TokenSalePhase } from '../../flows/sale-purchase.ts';
import type { OfferDetails, Participation } from '../../wire.ts';
import * as allFlows from '../flows.ts';
import type { Flows } from '../hooks/use-flow.ts';
import { buySale } from './buy-sale.ts';
import { isSameAccount, type UnfinishedSale } from './unfinished-sale.ts';

const HASH = `0x${'ab'.repeat(32)}`;
const PURCHASE: UnfinishedSale = {
  ...{ id: 'i', optionId: 'o', assetId: 'usd-coin', amount: '50', wallet: '0xAb', approvalHash: null },
  chain: 'base_sepolia',
};

beforeEach(() => {
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

/** Starts a new purchase whose flow is `run`, and returns what is recorded of it. */
function start(run: Run) {
  const sales = new Map<string, UnfinishedSale>();
  const recorded = {
    ...{ key: 'sales', sales: [], read: () => [...sales.values()] },
    record: (sale: UnfinishedSale) => void sales.set(sale.id, sale),
    remove: (id: string) => void sales.delete(id),
  };
  const flows = { ...allFlows, runTokenSale: (_: unknown, __: unknown, options) => run(options) } as Flows;
  const sale = {
    ...{ offer: {} as OfferDetails, recorded, onApprovalUsed: () => undefined, reset: () => undefined },
    wallet: { protocol: 'ethereum', address: '0xAb', provider: { request: async () => null } } as const,
    attempt: { purchase: PURCHASE, isResumed: false, canRetry: true },
  };
  const causeway = createCauseway({ baseUrl: 'http://service.test', accessToken: 't' });
  return { sales, done: buySale(flows, causeway, sale, {}).catch(({ code }) => code) };
}

const aborted = () => new FlowError('approving', 'aborted', 'aborted');

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
  await vi.waitFor(() => expect(sales.size).toBe(1));
  // Neither this page nor another one starts a purchase until the owner has decided.
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
  await vi.waitFor(() => expect(sales.size).toBe(1));
  approve();
  await done;
  expect(sales.get('i')?.approvalHash).toBe(HASH);
});

test('two purchases share an allowance whatever the case of the address, except on Solana', () => {
  expect(isSameAccount(PURCHASE, { ...PURCHASE, wallet: '0xaB' })).toBe(true);
  expect(isSameAccount(PURCHASE, { ...PURCHASE, assetId: 'tether' })).toBe(false);
  const solana = { ...PURCHASE, chain: 'solana_devnet', wallet: 'Ab' } as const;
  expect(isSameAccount(solana, { ...solana, wallet: 'aB' })).toBe(false);
});
