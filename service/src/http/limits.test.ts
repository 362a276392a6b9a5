import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestApp, testApp, testConfig } from '../../test/support/app.ts';
import { createThings, thingRoutes } from '../../test/support/things.ts';
import { memoryLimiter, postgresLimiter } from './limits.ts';

const limits = { ...testConfig().limits, api: 5, documents: 2 };
let one: TestApp;
beforeAll(async () => {
  one = await testApp({ routes: thingRoutes, config: { limits } });
  await createThings(one.ctx);
});
afterAll(() => one.close());

const list = (token: string) =>
  one.app.inject({ url: '/v1/things', headers: { authorization: `Bearer ${token}` } });
const create = (token: string) =>
  one.app.inject({
    method: 'POST',
    url: '/v1/things',
    payload: { name: 'x' },
    headers: { authorization: `Bearer ${token}` },
  });

test('every reply tells what is left, and the refusal when to come back', async () => {
  const token = await one.tokenFor({ clientId: 'counted' });
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

test('each user of a partner, and the partner itself, has its own budget', async () => {
  const caller = { clientId: 'shared' };
  for (const userId of [
    null,
    '01890000-0000-7000-8000-000000000001',
    '01890000-0000-7000-8000-000000000002',
  ]) {
    expect((await list(await one.tokenFor({ ...caller, userId }))).headers['ratelimit-remaining']).toBe('4');
  }
});

test('a route with a budget of its own has that one too', async () => {
  const token = await one.tokenFor({ clientId: 'narrow' });
  expect((await create(token)).headers['ratelimit-limit']).toBe('2');
  expect((await create(token)).statusCode).toBe(200);
  expect((await create(token)).json().code).toBe('rate_limited');
  expect((await list(token)).statusCode).toBe(200);
});

test('a window lasts a minute from its first request', () => {
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

test('memory stays bounded, the oldest windows go first', () => {
  let now = 0;
  const limiter = memoryLimiter(() => now++, 3);
  for (const key of ['a', 'b', 'c', 'd']) limiter.take(key, 10);
  expect(limiter.take('c', 10)).toMatchObject({ remaining: 8 });
  expect(limiter.take('a', 10)).toMatchObject({ remaining: 9 });
});

test('shared through PostgreSQL, 40 at once on two nodes against 10 allow exactly 10', async () => {
  const limiters = [postgresLimiter(one.ctx.db), postgresLimiter(one.ctx.db)];
  const taken = await Promise.all(Array.from({ length: 40 }, (_, i) => limiters[i % 2]?.take('shared', 10)));
  expect(taken.filter((one) => one?.allowed)).toHaveLength(10);
});

test('the same replies with counters in PostgreSQL', async () => {
  const two = await testApp({ routes: thingRoutes, config: { limits, rateLimits: 'postgres' } });
  await createThings(two.ctx);
  const token = await two.tokenFor({});
  const statuses = await Promise.all(
    Array.from(
      { length: 8 },
      async () =>
        (await two.app.inject({ url: '/v1/things', headers: { authorization: `Bearer ${token}` } }))
          .statusCode,
    ),
  );
  expect(statuses.filter((status) => status === 200)).toHaveLength(5);
  expect(statuses.filter((status) => status === 429)).toHaveLength(3);
  await two.close();
});
