import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestApp, testApp, testConfig } from '../../../test/support/app.ts';
import { createThings, thingRoutes } from '../../../test/support/things.ts';
import { memoryLimiter, postgresLimiter } from './rate-limits.ts';

const limits = { ...testConfig().limits, api: 5, documents: 2 };
let app: TestApp;
beforeAll(async () => {
  app = await testApp({ routes: thingRoutes, config: { limits } });
  await createThings(app.ctx);
});
afterAll(() => app.close());

const list = (token: string) =>
  app.app.inject({ url: '/v1/things', headers: { authorization: `Bearer ${token}` } });
const create = (token: string) =>
  app.app.inject({
    method: 'POST',
    url: '/v1/things',
    payload: { name: 'x' },
    headers: { authorization: `Bearer ${token}` },
  });

test('every reply reports the remaining requests, and a refusal the time to retry', async () => {
  const token = await app.tokenFor({ clientId: 'limited' });
  for (const remaining of [4, 3, 2, 1, 0]) {
    const { headers, statusCode } = await list(token);
    expect([statusCode, headers['ratelimit-limit'], headers['ratelimit-remaining']]).toEqual([
      200,
      '5',
      String(remaining),
    ]);
  }
  const refused = await list(token);
  expect([refused.statusCode, refused.json().code]).toEqual([429, 'rate_limited']);
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(60);
  expect(refused.headers['ratelimit-reset']).toBe(refused.headers['retry-after']);
});

test('each user of a partner and the partner itself have separate limits', async () => {
  const caller = { clientId: 'shared' };
  for (const userId of [
    null,
    '01890000-0000-7000-8000-000000000001',
    '01890000-0000-7000-8000-000000000002',
  ]) {
    expect((await list(await app.tokenFor({ ...caller, userId }))).headers['ratelimit-remaining']).toBe('4');
  }
});

test('a route can have an additional limit', async () => {
  const token = await app.tokenFor({ clientId: 'narrow' });
  expect((await create(token)).headers['ratelimit-limit']).toBe('2');
  expect((await create(token)).statusCode).toBe(200);
  expect((await create(token)).json().code).toBe('rate_limited');
  expect((await list(token)).statusCode).toBe(200);
});

test('a window lasts one minute from its first request', () => {
  let now = 0;
  const limiter = memoryLimiter(() => now);
  const take = () => limiter.take('k', 2);
  expect(take()).toMatchObject({ allowed: true, remaining: 1, resetSeconds: 60 });
  now = 59_000;
  expect(take()).toMatchObject({ allowed: true, remaining: 0, resetSeconds: 1 });
  expect(take()).toMatchObject({ allowed: false });
  now = 60_000;
  expect(take()).toMatchObject({ allowed: true, remaining: 1 });
});

test('memory is bounded by dropping the older of two generations', () => {
  let now = 0;
  const limiter = memoryLimiter(() => now++, 3);
  for (const key of ['a', 'b', 'c', 'd']) limiter.take(key, 10);
  expect(limiter.take('c', 10)).toMatchObject({ remaining: 8 });
  for (const key of ['e', 'f', 'g']) limiter.take(key, 10);
  expect(limiter.take('c', 10)).toMatchObject({ remaining: 7 });
  expect(limiter.take('a', 10)).toMatchObject({ remaining: 9 });
});

test('a window survives the change of generations until its own end', () => {
  let now = 0;
  const limiter = memoryLimiter(() => now);
  limiter.take('early', 10);
  now = 59_000;
  limiter.take('late', 10);
  now = 61_000;
  expect(limiter.take('late', 10)).toMatchObject({ remaining: 8, resetSeconds: 58 });
  now = 118_000;
  expect(limiter.take('late', 10)).toMatchObject({ remaining: 7 });
  now = 119_000;
  expect(limiter.take('late', 10)).toMatchObject({ remaining: 9 });
  now = 500_000;
  expect(limiter.take('late', 10)).toMatchObject({ remaining: 9 });
});

test('with PostgreSQL, two nodes allow exactly 10 of 40 concurrent requests', async () => {
  const limiters = [postgresLimiter(app.ctx.db), postgresLimiter(app.ctx.db)];
  const taken = await Promise.all(Array.from({ length: 40 }, (_, i) => limiters[i % 2]?.take('shared', 10)));
  expect(taken.filter((each) => each?.allowed)).toHaveLength(10);
});

test('limits requests the same way with counters in PostgreSQL', async () => {
  const other = await testApp({ routes: thingRoutes, config: { limits, rateLimits: 'postgres' } });
  await createThings(other.ctx);
  const token = await other.tokenFor({});
  const statuses = await Promise.all(
    Array.from(
      { length: 8 },
      async () =>
        (await other.app.inject({ url: '/v1/things', headers: { authorization: `Bearer ${token}` } }))
          .statusCode,
    ),
  );
  expect(statuses.filter((status) => status === 200)).toHaveLength(5);
  expect(statuses.filter((status) => status === 429)).toHaveLength(3);
  await other.close();
});
