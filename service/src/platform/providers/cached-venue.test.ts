import { beforeEach, expect, test } from 'vitest';
import { testClock } from '../../kernel/clock.ts';
import { type CachedVenue, cacheVenue } from './cached-venue.ts';
import { unconfiguredVenue } from './unconfigured.ts';
import type { IndicativeQuote } from './venue.ts';

type Request = { answer(price: bigint): void; fail(): void };

const order = { symbol: 'AAPLon', side: 'buy', tokenAmount: '1' } as const;
let time = 0;
let requests: Request[] = [];
let venue: CachedVenue;
let clock = testClock(0);

beforeEach(() => {
  time = 1_000;
  requests = [];
  clock = testClock(0);
  const requestQuote = () =>
    new Promise<IndicativeQuote>((resolve, reject) => {
      const answer = (price: bigint) => resolve({ price } as IndicativeQuote);
      requests.push({ answer, fail: () => reject(new Error('no answer')) });
    });
  venue = cacheVenue({ ...unconfiguredVenue(), quote: requestQuote }, clock, () => time);
});

const quote = () => venue.quote(order);
const priceOf = async () => (await quote()).price;
/** Fills the cache. */
async function fill(): Promise<void> {
  const first = quote();
  requests[0]?.answer(1n);
  await first;
}

test('concurrent callers share one request and then its answer for a second', async () => {
  const all = Promise.all(Array.from({ length: 20 }, priceOf));
  requests[0]?.answer(7n);
  expect(new Set(await all)).toEqual(new Set([7n]));
  time += 749;
  expect(await priceOf()).toBe(7n);
  expect(requests).toHaveLength(1);
});

test('a read shortly before expiry refreshes the entry once without waiting', async () => {
  await fill();
  time += 800;
  for (let poll = 0; poll < 5; poll++) expect(quote()).toEqual({ price: 1n });
  expect(requests).toHaveLength(2);
  requests[1]?.answer(2n);
  await Promise.resolve();
  expect(quote()).toEqual({ price: 2n });
  time += 700;
  expect(quote()).toEqual({ price: 2n });
});

test('an entry without reads is not refreshed and expires', async () => {
  await fill();
  time += 1_001;
  const next = quote();
  expect(requests).toHaveLength(2);
  requests[1]?.answer(2n);
  expect(await next).toEqual({ price: 2n });
});

test('a failed refresh has no effect until the entry expires', async () => {
  await fill();
  time += 800;
  quote();
  requests[1]?.fail();
  await Promise.resolve();
  expect(quote()).toEqual({ price: 1n });
  expect(requests).toHaveLength(2);
  time += 201;
  const next = quote();
  requests[2]?.fail();
  await expect(next).rejects.toThrow('no answer');
});

test('failures are not cached', async () => {
  const first = quote();
  requests[0]?.fail();
  await expect(first).rejects.toThrow();
  const next = quote();
  requests[1]?.answer(3n);
  expect(await next).toEqual({ price: 3n });
});

test('clear discards requests in flight, and a clock jump expires entries', async () => {
  await fill();
  time += 800;
  quote();
  venue.clear();
  requests[1]?.answer(2n);
  await Promise.resolve();
  const moved = quote();
  requests[2]?.answer(3n);
  expect(await moved).toEqual({ price: 3n });
  clock.advance(5);
  quote();
  expect(requests).toHaveLength(4);
});
