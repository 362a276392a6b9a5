import { afterAll, beforeAll, expect, test } from 'vitest';
import { startRedis } from '../../../test/support/redis.ts';
import { openRedisLimiter } from './redis-limits.ts';

let redis: Awaited<ReturnType<typeof startRedis>>;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());

/** Opens two limiters and waits until they share their counts in Redis. */
async function openPair() {
  const warnings: string[] = [];
  const [one, two] = [
    openRedisLimiter(redis.url, (message) => warnings.push(message)),
    openRedisLimiter(redis.url, () => undefined),
  ];
  let probe = 0;
  await expect
    .poll(async () => {
      const key = `probe ${probe++}`;
      await one.limiter.take(key, 10);
      return (await two.limiter.take(key, 10)).remaining;
    })
    .toBe(8);
  const close = () => [one, two].forEach((each) => void each.close());
  return { one: one.limiter, two: two.limiter, warnings, close };
}

test('two nodes share the counters and allow exactly 10 of 40 concurrent requests', async () => {
  const { one, two, close } = await openPair();
  const taken = await Promise.all(
    Array.from({ length: 40 }, (_, i) => (i % 2 === 0 ? one : two).take('shared', 10)),
  );
  expect(taken.filter((each) => each.allowed)).toHaveLength(10);
  expect(taken[0]).toMatchObject({ limit: 10, resetSeconds: 60 });
  close();
});

test('while Redis is down each node keeps its own count, and shares again afterwards', async () => {
  const { one, two, warnings, close } = await openPair();
  for (let i = 0; i < 3; i++) await one.take('outage', 5);
  await redis.stop();
  const { port } = redis;
  await expect.poll(() => warnings).toEqual([expect.stringMatching(/Redis is down/)]);
  // The node also counted the earlier requests in memory, so the limit does not start over.
  const taken = await Promise.all(Array.from({ length: 5 }, () => one.take('outage', 5)));
  expect(taken.map((each) => each.allowed)).toEqual([true, true, false, false, false]);
  expect((await two.take('outage', 5)).allowed).toBe(true);
  redis = await startRedis(port);
  await expect.poll(() => warnings.at(-1)).toBe('Redis is back');
  await expect
    .poll(async () => {
      await one.take('again', 1000);
      const [first, second] = [await one.take('again', 1000), await two.take('again', 1000)];
      return first.remaining - second.remaining;
    })
    .toBe(1);
  close();
});

test('a silent Redis does not open the limits or stall the requests', async () => {
  const { one, close } = await openPair();
  redis.setSilent(true);
  const taken = [];
  for (let i = 0; i < 4; i++) taken.push(await one.take('silent', 2));
  expect(taken.map((each) => each.allowed)).toEqual([true, true, false, false]);
  redis.setSilent(false);
  close();
});
