import { setImmediate as nextTurn } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { partnerOf } from '../../../test/support/tokens.ts';
import { createFairQueue } from '../../kernel/fair-queue.ts';
import { type Overload, watchOverload } from './overload.ts';

const [GREEDY, OTHER] = [partnerOf('greedy'), partnerOf('other')];

let overload: Overload;
let started: string[];
beforeEach(() => {
  const queue = createFairQueue({ concurrency: 1, maxWaitMs: 1, timeout: () => new Error() });
  overload = watchOverload({ queue }, { maxPoolWaitMs: 60_000, maxEventLoopLagMs: 60_000 }, new Registry());
  started = [];
});
afterEach(() => overload.stop());

const start = async (lane: string) => {
  await overload.admit(lane);
  started.push(lane);
};

test('a few requests start per turn of the event loop, and a lane that floods the node delays another by a few', async () => {
  const greedy = Array.from({ length: 200 }, () => start(GREEDY));
  const others = [OTHER, '198.51.100.1', '198.51.100.2'].map(start);
  await Promise.resolve();
  await Promise.resolve();
  expect(started.length).toBeLessThan(20);
  await Promise.all(others);
  expect(started.length).toBeLessThan(40);
  await Promise.all(greedy);
  expect(started).toHaveLength(203);
});

test('starts wait while connections arrive, but not forever', async () => {
  const requests = Array.from({ length: 200 }, () => start(GREEDY));
  for (let turn = 0; turn < 10; turn++) {
    overload.noticeConnection();
    await nextTurn();
  }
  expect(started.length).toBeLessThan(20);
  while (started.length < 200) {
    overload.noticeConnection();
    await nextTurn();
  }
  await Promise.all(requests);
});
