import { expect, test } from 'vitest';
import { createFairQueue, type FairQueue } from './fair-queue.ts';

const newQueue = (concurrency: number, maxWaitMs = 10_000) =>
  createFairQueue({ concurrency, maxWaitMs, timeout: () => new Error('too long') });

/** `run` takes a short turn in a lane. `order` lists the lanes in the order of their turns. */
function recordTurns(queue: FairQueue) {
  const order: string[] = [];
  const run = async (lane: string) => {
    const leave = await queue.take(lane);
    order.push(lane);
    await Promise.resolve();
    leave();
  };
  return { order, run };
}

test('a lane with a thousand waiting delays another by one turn', async () => {
  const queue = newQueue(2);
  const { order, run } = recordTurns(queue);
  const greedy = Array.from({ length: 1_000 }, () => run('greedy'));
  expect(queue.waiting()).toBe(998);
  await Promise.all([run('other'), run('third')]);
  expect(order.indexOf('other')).toBeLessThanOrEqual(3);
  expect(order.indexOf('third')).toBeLessThanOrEqual(4);
  await Promise.all(greedy);
  expect([order.length, queue.waiting()]).toEqual([1_002, 0]);
});

test('never runs more than its slots, and a slot given back twice counts once', async () => {
  const queue = newQueue(3);
  let running = 0;
  let most = 0;
  await Promise.all(
    Array.from({ length: 50 }, async (_, i) => {
      const leave = await queue.take(`lane ${i % 4}`);
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, i % 3));
      running--;
      leave();
      leave();
    }),
  );
  expect(most).toBe(3);
});

test('a wait that lasts too long fails and leaves its place', async () => {
  const queue = newQueue(1, 5);
  const leave = await queue.take('a');
  await expect(queue.take('b')).rejects.toThrow('too long');
  expect(queue.waiting()).toBe(0);
  leave();
  (await queue.take('b'))();
});

test('the lanes of a group share its turns, so that many lanes get no more than one', async () => {
  const groupOf = (lane: string) => (lane.startsWith('stranger') ? 'strangers' : lane);
  const queue = createFairQueue({ concurrency: 1, maxWaitMs: 10_000, timeout: () => new Error(), groupOf });
  const { order, run } = recordTurns(queue);
  const leave = await queue.take('first');
  const strangers = Array.from({ length: 100 }, (_, i) => run(`stranger ${i % 50}`));
  const known = Array.from({ length: 5 }, () => run('known'));
  leave();
  await Promise.all(known);
  // Before each turn of the known lane, one stranger gets a turn. The strangers take turns with each other.
  expect(order.filter((lane) => lane !== 'known')).toEqual(
    Array.from({ length: order.length - 5 }, (_, i) => `stranger ${i}`),
  );
  expect(order.length).toBeLessThanOrEqual(11);
  await Promise.all(strangers);
  expect([order.length, queue.waiting()]).toEqual([105, 0]);
});

test('tells how many tasks would start before another one of a lane', async () => {
  const groupOf = (lane: string) => (lane.startsWith('stranger') ? 'strangers' : lane);
  const queue = createFairQueue({ concurrency: 1, maxWaitMs: 10_000, timeout: () => new Error(), groupOf });
  const { order, run } = recordTurns(queue);
  const leave = await queue.take('first');
  expect(queue.ahead('known')).toBe(0);
  const waiting = Array.from({ length: 60 }, (_, i) => run(i < 50 ? 'greedy' : `stranger ${i % 5}`));
  // At most one of each group, or of each group and lane of strangers, starts before a lane that has nothing waiting.
  const lanes = ['known', 'stranger 9', 'stranger 0', 'greedy'];
  expect(lanes.map((lane) => queue.ahead(lane))).toEqual([2, 11, 29, 60]);
  const known = run('known');
  leave();
  await known;
  expect(order.indexOf('known')).toBe(2);
  await Promise.all(waiting);
  expect([queue.ahead('greedy'), queue.started()]).toEqual([0, 62]);
});
