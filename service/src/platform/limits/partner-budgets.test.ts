import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestApp, testApp } from '../../../test/support/app.ts';
import { createThings, gate, thingRoutes } from '../../../test/support/things.ts';
import { createPartnerBudgets } from './partner-budgets.ts';

test('a partner never has more in progress than its budget, and every request gets its turn', async () => {
  const budgets = createPartnerBudgets({ concurrency: 2, maxWaiting: 100 });
  let running = 0;
  let most = 0;
  const work = async (i: number) => {
    most = Math.max(most, ++running);
    await sleep(i % 3);
    running--;
    if (i % 5 === 0) throw new Error('failed');
    return i;
  };
  const results = await Promise.allSettled(
    Array.from({ length: 50 }, async (_, i) => budgets.run('a', work, i)),
  );
  expect(most).toBe(2);
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(40);
});

test('a request that arrives while a slot is passed on waits behind the request that gets it', async () => {
  const budgets = createPartnerBudgets({ concurrency: 1, maxWaiting: 100 });
  const log: string[] = [];
  const work = async (name: string) => {
    log.push(`${name} starts`);
    await new Promise(setImmediate);
    log.push(`${name} ends`);
  };
  const first = budgets.run('a', work, 'first');
  const second = budgets.run('a', work, 'second');
  // This callback runs after the first request has released its slot and before the second one starts.
  const third = (first as Promise<void>).then(() => budgets.run('a', work, 'third'));
  await Promise.all([first, second, third]);
  const inOrder = ['first', 'second', 'third'].flatMap((name) => [`${name} starts`, `${name} ends`]);
  expect(log).toEqual(inOrder);
});

test('work that returns immediately costs nothing, also when it waited', async () => {
  const budgets = createPartnerBudgets({ concurrency: 1, maxWaiting: 10 });
  expect(budgets.run('a', () => 'now', null)).toBe('now');
  const first = budgets.run('a', sleep, 5);
  const waiting = [1, 2, 3].map((i) => budgets.run('a', (n) => n, i));
  expect(await Promise.all([first, ...waiting])).toEqual([undefined, 1, 2, 3]);
});

let app: TestApp;
beforeAll(async () => {
  app = await testApp({ routes: thingRoutes, config: { partnerConcurrency: 3 } });
  await createThings(app.ctx);
});
afterAll(() => app.close());

test('a partner with stuck requests does not slow down another', async () => {
  const [greedy, other] = await Promise.all([
    app.tokenFor({ clientId: 'greedy' }),
    app.tokenFor({ clientId: 'other' }),
  ]);
  const post = (token: string, name: string) =>
    app.app.inject({
      method: 'POST',
      url: '/v1/things',
      payload: { name },
      headers: { authorization: `Bearer ${token}` },
    });
  let open = () => {};
  let entered = 0;
  gate.hold = new Promise((resolve) => {
    open = resolve;
  });
  gate.entered = () => void entered++;
  const stuck = Array.from({ length: 10 }, (_, i) => post(greedy, `greedy ${i}`));
  await expect.poll(() => entered).toBe(3);
  const list = await app.app.inject({ url: '/v1/things', headers: { authorization: `Bearer ${other}` } });
  expect(list.statusCode).toBe(200);
  expect(entered).toBe(3);
  open();
  expect((await Promise.all(stuck)).map((reply) => reply.statusCode)).toEqual(Array(10).fill(200));
  gate.hold = Promise.resolve();
  gate.entered = () => {};
});

test('a partner that waits for the database does not delay the statement of another', async () => {
  const small = await testApp({ routes: thingRoutes, config: { databasePool: 2 } });
  try {
    await createThings(small.ctx);
    const [greedy, other] = await Promise.all([
      small.tokenFor({ clientId: 'greedy' }),
      small.tokenFor({ clientId: 'other' }),
    ]);
    const list = (token: string) =>
      small.app.inject({ url: '/v1/things', headers: { authorization: `Bearer ${token}` } });
    await Promise.all([list(greedy), list(other)]);
    const waiting = Array.from({ length: 80 }, () => list(greedy));
    // `inject` starts a request on the next tick, so wait for that tick.
    await new Promise(setImmediate);
    let statements = 0;
    small.ctx.pool.on('acquire', () => void statements++);
    expect((await list(other)).statusCode).toBe(200);
    expect(statements).toBeLessThan(20);
    expect((await Promise.all(waiting)).map((reply) => reply.statusCode)).toEqual(Array(80).fill(200));
    expect(statements).toBeGreaterThan(40);
  } finally {
    await small.close();
  }
});
