import type { IncomingMessage, ServerResponse } from 'node:http';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createAdmission } from './admission.ts';

/**
 * Admits requests named `<lane> <number>`. The lane `-` is for callers without a known partner. While `hasRoom` is
 * true, the database has room for every lane except `busyLane` and those for which `roomFor` returns false.
 */
/** Admission measures real time. A pause of a busy machine can take the place of the one that a test makes. */
const PATIENT = { retry: 2 };

function testAdmission({ maxWaitMs = 60_000, onStart = () => {} } = {}) {
  const state = {
    hasRoom: true,
    busyLane: '' as string | null,
    roomFor: (_lane: string | null) => true,
    started: [] as string[],
    refused: [] as string[],
  };
  const nameOf = (request: IncomingMessage) => request.url ?? '';
  const { admit, noticeConnection } = createAdmission({
    maxWaitMs,
    laneOf: (request) => nameOf(request).match(/^[a-z]/)?.[0] ?? null,
    mayStart: (lane) => state.hasRoom && lane !== state.busyLane && state.roomFor(lane),
    start: (request) => {
      state.started.push(nameOf(request));
      onStart();
    },
    refuse: (request) => void state.refused.push(nameOf(request)),
  });
  const send = (url: string, response = { destroyed: false }) => {
    admit({ url, arrivedAt: performance.now() } as IncomingMessage, response as ServerResponse);
    return response;
  };
  return { state, send, noticeConnection };
}

function block(milliseconds: number): void {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
}

test(
  'a few requests start at once, and a burst starts completely without starving the event loop',
  PATIENT,
  async () => {
    const { state, send } = testAdmission();
    send('a 0');
    expect(state.started).toEqual(['a 0']);
    for (let n = 1; n < 100; n++) send(`a ${n}`);
    expect(state.started.length).toBeLessThan(100);
    await expect.poll(() => state.started.length, { interval: 1 }).toBe(100);
    expect(state.started).toEqual(Array.from({ length: 100 }, (_, n) => `a ${n}`));
    expect(state.refused).toEqual([]);
  },
);

test('requests of another lane start before those that a flooding lane sent earlier', PATIENT, async () => {
  const { state, send } = testAdmission();
  for (let n = 0; n < 200; n++) send(`a ${n}`);
  for (let n = 0; n < 3; n++) send(`b ${n}`);
  await expect.poll(() => state.started.length, { interval: 1 }).toBe(203);
  expect(state.started.indexOf('b 2')).toBeLessThan(50);
});

test("callers without a known partner have a third of a partner's share, and all of it if nobody else waits", async () => {
  const { state, send } = testAdmission();
  state.hasRoom = false;
  for (let n = 0; n < 40; n++) for (const lane of ['-', 'a', 'b']) send(`${lane} ${n}`);
  state.hasRoom = true;
  await expect.poll(() => state.started.length, { interval: 1 }).toBe(120);
  const first = state.started.slice(0, 70);
  expect(['-', 'a', 'b'].map((lane) => first.filter((name) => name.startsWith(lane)).length)).toEqual([
    10, 30, 30,
  ]);
  expect(state.started.at(-1)).toBe('- 39');
});

test(
  'callers without a known partner start one in 13 requests, however many partners wait',
  PATIENT,
  async () => {
    const { state, send } = testAdmission();
    const lanes = ['-', ...'abcdefghijklmnopqrst'];
    state.hasRoom = false;
    for (let n = 0; n < 20; n++) for (const lane of lanes) send(`${lane} ${n}`);
    state.hasRoom = true;
    await expect.poll(() => state.started.length, { interval: 1 }).toBe(420);
    const first = state.started.slice(0, 130);
    expect(first.filter((name) => name.startsWith('-')).length).toBe(10);
    const counts = lanes.slice(1).map((lane) => first.filter((name) => name.startsWith(lane)).length);
    expect([Math.min(...counts), Math.max(...counts)]).toEqual([6, 6]);
  },
);

test('two partners that are busy in turn leave turns to the others', PATIENT, async () => {
  const { state, send } = testAdmission({
    onStart: () => {
      // Each start takes up a whole turn of the event loop, and makes its lane busy until another lane has started a
      // request.
      block(1.1);
      state.busyLane = state.started.at(-1)?.match(/^[a-z]/)?.[0] ?? '';
    },
  });
  state.hasRoom = false;
  for (let n = 0; n < 20; n++) for (const lane of ['a', 'b', '-']) send(`${lane} ${n}`);
  state.hasRoom = true;
  await expect.poll(() => state.started.length, { interval: 1 }).toBeGreaterThan(30);
  // One in seven: six requests of the two partners, then one request of a caller without a known partner.
  const others = state.started.slice(0, 30).filter((name) => name.startsWith('-')).length;
  expect([4, 5]).toContain(others);
});

test(
  'callers without a known partner get no more than their share while the database has no room for partners',
  PATIENT,
  async () => {
    const { state, send } = testAdmission({
      onStart: () => {
        // After every request, the database has room for one partner only, so most turns of the partners are lost.
        const next = 'abcd'[state.started.length % 4];
        state.roomFor = (lane) => lane === null || lane === next;
      },
    });
    state.hasRoom = false;
    for (let n = 0; n < 60; n++) for (const lane of ['-', 'a', 'b', 'c', 'd']) send(`${lane} ${n}`);
    state.hasRoom = true;
    await expect.poll(() => state.started.length, { interval: 1 }).toBeGreaterThan(130);
    expect(state.started.slice(0, 130).filter((name) => name.startsWith('-')).length).toBe(10);
  },
);

test(
  'callers without a known partner do not wait for partners whose statements are stuck',
  PATIENT,
  async () => {
    const { state, send } = testAdmission();
    send('a 0');
    state.busyLane = 'a';
    for (let n = 1; n < 40; n++) for (const lane of ['a', '-']) send(`${lane} ${n}`);
    await expect.poll(() => state.started.length, { interval: 1 }).toBe(40);
    expect(state.started.slice(1).every((name) => name.startsWith('-'))).toBe(true);
    expect(state.refused).toEqual([]);
  },
);

test('a node whose database had no room for a moment takes a burst afterwards', PATIENT, async () => {
  const { state, send } = testAdmission();
  state.hasRoom = false;
  for (let n = 0; n < 20; n++) send(`a ${n}`);
  // Wait for several samples in which nothing starts.
  await sleep(1_000);
  state.hasRoom = true;
  await expect.poll(() => state.started.length, { interval: 1 }).toBe(20);
  for (let n = 20; n < 50; n++) send(`a ${n}`);
  await expect.poll(() => state.started.length + state.refused.length, { interval: 1 }).toBe(50);
  expect(state.refused).toEqual([]);
});

test(
  'nothing starts while the database has no room, and late requests are refused instead',
  PATIENT,
  async () => {
    const { state, send } = testAdmission({ maxWaitMs: 500 });
    state.hasRoom = false;
    send('a 0');
    await sleep(20);
    expect([state.started, state.refused]).toEqual([[], []]);
    await expect.poll(() => state.refused, { interval: 1, timeout: 5_000 }).toEqual(['a 0']);
    send('a 1');
    state.hasRoom = true;
    await expect.poll(() => state.started, { interval: 1 }).toEqual(['a 1']);
  },
);

test(
  'a saturated node refuses what exceeds the share of a lane at once, and still admits other lanes',
  PATIENT,
  async () => {
    const { state, send } = testAdmission({ maxWaitMs: 400, onStart: () => block(2) });
    let n = 0;
    // Floods the node until its rate has been measured, and a little longer.
    while (state.refused.length < 200) {
      for (let i = 0; i < 40; i++) send(`a ${n++}`);
      await sleep(1);
    }
    const refusedBefore = state.refused.length;
    for (let i = 0; i < 1_000; i++) send(`a ${n++}`);
    expect(state.refused.length).toBeGreaterThan(refusedBefore);
    send('b 0');
    await expect.poll(() => state.started, { interval: 1 }).toContain('b 0');
  },
);

test(
  'a node whose queue was empty for a moment still knows its rate, and refuses a flood on arrival',
  PATIENT,
  async () => {
    const { state, send } = testAdmission({ maxWaitMs: 400, onStart: () => block(2) });
    let n = 0;
    const flood = (count: number) => {
      for (let i = 0; i < count; i++) send(`a ${n++}`);
    };
    let counted = 0;
    const drained = () =>
      expect.poll(() => counted + state.started.length + state.refused.length, { interval: 1 }).toBe(n);
    let pausedMs: number;
    // Repeats these steps if the machine paused the test for so long that the measured rate may have expired.
    do {
      while (state.refused.length < 200) {
        flood(40);
        await sleep(1);
      }
      const fullAt = performance.now();
      await drained();
      flood(20);
      await drained();
      counted += state.refused.length;
      state.refused = [];
      flood(1_000);
      pausedMs = performance.now() - fullAt;
    } while (pausedMs > 900);
    // The node starts about 500 requests per second, so about 100 may wait: those that start within half of `maxWaitMs`.
    expect(state.refused.length).toBeGreaterThan(500);
  },
);

test('a node that was paused does not refuse requests that hardly wait', PATIENT, async () => {
  const { state, send } = testAdmission({ maxWaitMs: 4_000, onStart: () => block(2) });
  for (let n = 0; n < 15; n++) send(`a ${n}`);
  // Simulates a pause of the process. Without `MAX_SAMPLED_TURN_MS`, the node would now measure that it starts only a
  // few requests per second, and refuse most of the next requests.
  block(600);
  await nextTurn();
  for (let n = 15; n < 30; n++) send(`a ${n}`);
  await expect.poll(() => state.started.length, { interval: 1 }).toBe(30);
  expect(state.refused).toEqual([]);
});

test('a request whose client has gone is not started', PATIENT, async () => {
  const { state, send } = testAdmission();
  state.hasRoom = false;
  const response = send('a 0');
  send('a 1');
  response.destroyed = true;
  state.hasRoom = true;
  await expect.poll(() => state.started, { interval: 1 }).toEqual(['a 1']);
  expect(state.refused).toEqual([]);
});

test(
  'requests wait a few turns while connections arrive, and start even if connections never stop arriving',
  PATIENT,
  async () => {
    const { state, send, noticeConnection } = testAdmission();
    noticeConnection();
    for (let n = 0; n < 100; n++) send(`a ${n}`);
    for (let turn = 0; turn < 10; turn++) {
      noticeConnection();
      await nextTurn();
    }
    expect(state.started).toEqual([]);
    while (state.started.length < 100) {
      noticeConnection();
      await nextTurn();
    }
    expect(state.refused).toEqual([]);
  },
);
