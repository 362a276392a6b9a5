import { afterEach, expect, test, vi } from 'vitest';
import type { Causeway } from '../client.ts';
import { CausewayError } from '../error.ts';
import type { EventHub } from '../event-hub.ts';
import type { EventStreamOptions } from '../event-stream.ts';
import type { Event } from '../wire.ts';
import type { WalletSession } from './session.ts';
import { waitForChange } from './wait-for-change.ts';

const POLL_INTERVAL_MS = 2_000;
const CHANGE = { events: 'participation', timeoutMs: 60_000 };

/** The host's event hub, controlled by the test. */
function createHub(isLive: boolean) {
  const listeners = new Set<(event: Event) => void>();
  const hub: EventHub = {
    isLive: () => isLive,
    onLiveChange: () => () => undefined,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
  const emit = (type: string) => {
    for (const listener of [...listeners]) listener({ type } as Event);
  };
  return { hub, emit, listeners };
}

const sessionOf = (fields: Partial<WalletSession>) =>
  ({ pollIntervalMs: POLL_INTERVAL_MS, signal: undefined, ...fields }) as WalletSession;
/** Runs pending callbacks without advancing the time. */
const settle = () => vi.advanceTimersByTimeAsync(0);

afterEach(() => void vi.useRealTimers());

test('an event ends the wait at once, and other events and time alone do not', async () => {
  vi.useFakeTimers();
  const { hub, emit, listeners } = createHub(true);
  let isDone = false;
  const holds = vi.fn(async () => isDone);
  const waiting = waitForChange(sessionOf({ events: hub }), CHANGE, holds);
  await settle();
  const checks = holds.mock.calls.length;
  isDone = true;
  emit('wallet.bound');
  await vi.advanceTimersByTimeAsync(5 * POLL_INTERVAL_MS);
  expect(holds).toHaveBeenCalledTimes(checks);
  emit('participation.completed');
  expect(await waiting).toBe(true);
  expect(listeners.size).toBe(0);
});

test.each(['participation.failed', 'redacted'])('%s during a check causes another check', async (type) => {
  vi.useFakeTimers();
  const { hub, emit } = createHub(true);
  let checks = 0;
  const holds = async () => {
    checks++;
    if (checks === 2) emit(type);
    return checks === 3;
  };
  expect(await waitForChange(sessionOf({ events: hub }), CHANGE, holds)).toBe(true);
});

test('without a stream, the condition is polled', async () => {
  vi.useFakeTimers();
  const stream = vi.fn(() => {
    throw new CausewayError({ code: 'insufficient_scope', status: 403, message: 'no' });
  });
  const causeway = { events: { stream } } as unknown as Causeway;
  let checks = 0;
  const waiting = waitForChange(sessionOf({ causeway }), CHANGE, async () => ++checks === 4);
  await vi.advanceTimersByTimeAsync(3 * POLL_INTERVAL_MS);
  expect(await waiting).toBe(true);
  expect(stream).toHaveBeenCalledTimes(1);
});

test("without the host's stream, one is opened for the wait, and the condition is checked when it has caught up", async () => {
  vi.useFakeTimers();
  let isOpen = false;
  async function* stream({ signal, onCaughtUp }: EventStreamOptions = {}): AsyncGenerator<Event> {
    isOpen = true;
    onCaughtUp?.();
    await new Promise((resolve) => signal?.addEventListener('abort', resolve));
    isOpen = false;
  }
  const causeway = { events: { stream } } as unknown as Causeway;
  let checks = 0;
  const waiting = waitForChange(sessionOf({ causeway }), CHANGE, async () => ++checks === 2);
  await settle();
  expect(await waiting).toBe(true);
  await settle();
  expect(isOpen).toBe(false);
});

test('a condition that holds opens no stream', async () => {
  const causeway = {} as Causeway;
  expect(await waitForChange(sessionOf({ causeway }), CHANGE, async () => true)).toBe(true);
});

test('returns false after the timeout, with a last check at its end, and stops when aborted', async () => {
  vi.useFakeTimers();
  const { hub, listeners } = createHub(true);
  const times: number[] = [];
  const startedAt = Date.now();
  const holds = async () => {
    times.push(Date.now() - startedAt);
    return false;
  };
  const waiting = waitForChange(sessionOf({ events: hub }), { ...CHANGE, timeoutMs: 40_000 }, holds);
  await vi.advanceTimersByTimeAsync(40_000);
  expect(await waiting).toBe(false);
  expect(times).toEqual([0, 0, 30_000, 40_000]);
  const controller = new AbortController();
  const aborted = waitForChange(
    sessionOf({ events: hub, signal: controller.signal }),
    CHANGE,
    async () => false,
  );
  const outcome = expect(aborted).rejects.toThrow('closed');
  await settle();
  controller.abort(new Error('closed'));
  await outcome;
  expect(listeners.size).toBe(0);
});
