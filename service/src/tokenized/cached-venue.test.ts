import { beforeEach, expect, test } from 'vitest';
import { testClock } from '../clock.ts';
import { type CachedVenue, cacheVenue } from './cached-venue.ts';
import type { IndicativeQuote } from './provider.ts';
import { unconfiguredVenue } from './unconfigured.ts';

type Question = { answer(price: bigint): void; fail(): void };

const order = { symbol: 'AAPLon', side: 'buy', tokenAmount: '1' } as const;
let time = 0;
let asked: Question[] = [];
let venue: CachedVenue;
let clock = testClock(0);

beforeEach(() => {
  time = 1_000;
  asked = [];
  clock = testClock(0);
  const quote = () =>
    new Promise<IndicativeQuote>((resolve, reject) => {
      const answer = (price: bigint) => resolve({ price } as IndicativeQuote);
      asked.push({ answer, fail: () => reject(new Error('no answer')) });
    });
  venue = cacheVenue({ ...unconfiguredVenue(), quote }, clock, () => time);
});

const ask = () => venue.quote(order);
const priceOf = async () => (await ask()).price;
/** A first answer that everybody has. */
async function begin(): Promise<void> {
  const first = ask();
  asked[0]?.answer(1n);
  await first;
}

test('many who ask share one question, and then its answer for a second', async () => {
  const all = Promise.all(Array.from({ length: 20 }, priceOf));
  asked[0]?.answer(7n);
  expect(new Set(await all)).toEqual(new Set([7n]));
  time += 749;
  expect(await priceOf()).toBe(7n);
  expect(asked).toHaveLength(1);
});

test('an answer that is asked for near its end is renewed once, and nobody waits', async () => {
  await begin();
  time += 800;
  for (let poll = 0; poll < 5; poll++) expect(ask()).toEqual({ price: 1n });
  expect(asked).toHaveLength(2);
  asked[1]?.answer(2n);
  await Promise.resolve();
  expect(ask()).toEqual({ price: 2n });
  time += 700;
  expect(ask()).toEqual({ price: 2n });
});

test('an answer that nobody asks for is not renewed, and not given out when it is over', async () => {
  await begin();
  time += 1_001;
  const next = ask();
  expect(asked).toHaveLength(2);
  asked[1]?.answer(2n);
  expect(await next).toEqual({ price: 2n });
});

test('a renewal that fails is not heard of before the answer is over', async () => {
  await begin();
  time += 800;
  ask();
  asked[1]?.fail();
  await Promise.resolve();
  expect(ask()).toEqual({ price: 1n });
  expect(asked).toHaveLength(2);
  time += 201;
  const next = ask();
  asked[2]?.fail();
  await expect(next).rejects.toThrow('no answer');
});

test('a failure is not kept', async () => {
  const first = ask();
  asked[0]?.fail();
  await expect(first).rejects.toThrow();
  const next = ask();
  asked[1]?.answer(3n);
  expect(await next).toEqual({ price: 3n });
});

test('what was on its way when the market was moved is not believed, nor what a leap of the clock has passed', async () => {
  await begin();
  time += 800;
  ask();
  venue.clear();
  asked[1]?.answer(2n);
  await Promise.resolve();
  const moved = ask();
  asked[2]?.answer(3n);
  expect(await moved).toEqual({ price: 3n });
  clock.advance(5);
  ask();
  expect(asked).toHaveLength(4);
});
