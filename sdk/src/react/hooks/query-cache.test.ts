import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createCauseway } from '../../client.ts';
import { CausewayError } from '../../error.ts';
import { createCache } from './query-cache.ts';

const client = createCauseway({ baseUrl: 'http://service.test', accessToken: 't' });
const never = () => undefined;

/** An ask whose answers the test gives. */
function held() {
  const calls: {
    answer(data: unknown): void;
    fail(error: unknown): void;
    signal: AbortSignal | undefined;
  }[] = [];
  const ask = {
    key: 'offer:"x"',
    load: (_: unknown, signal?: AbortSignal) =>
      new Promise<unknown>((answer, fail) => calls.push({ answer, fail, signal })),
  };
  return { ask, calls };
}
const settle = () => vi.advanceTimersByTimeAsync(0);

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('what hooks share', () => {
  test('many watchers make one request, and all are told', async () => {
    const { ask, calls } = held();
    const cache = createCache(client);
    const told = [vi.fn(), vi.fn(), vi.fn()];
    for (const tell of told) cache.watch(ask, undefined, tell);
    await settle();
    expect(calls).toHaveLength(1);
    calls[0]?.answer('here');
    await settle();
    expect(cache.peek(ask.key)).toEqual({ data: 'here', error: undefined, isLoading: false });
    for (const tell of told) expect(tell).toHaveBeenCalledTimes(1);
  });

  test('a watcher that leaves and comes back at once keeps its request', async () => {
    const { ask, calls } = held();
    const cache = createCache(client);
    cache.watch(ask, undefined, never)();
    cache.watch(ask, undefined, never);
    await settle();
    expect(calls.map(({ signal }) => signal?.aborted)).toEqual([false]);
  });

  test('the last to leave aborts the request, and a late answer changes nothing', async () => {
    const { ask, calls } = held();
    const cache = createCache(client);
    const leave = [cache.watch(ask, undefined, never), cache.watch(ask, undefined, never)];
    await settle();
    leave[0]?.();
    await settle();
    expect(calls[0]?.signal?.aborted).toBe(false);
    leave[1]?.();
    await settle();
    expect(calls[0]?.signal?.aborted).toBe(true);
    calls[0]?.answer('late');
    await settle();
    expect(cache.peek(ask.key).data).toBeUndefined();
  });

  test('old data stay beside the error of a later failure, which is a CausewayError', async () => {
    const { ask, calls } = held();
    const cache = createCache(client, { [ask.key]: 'old' });
    cache.watch(ask, 1_000, never);
    await vi.advanceTimersByTimeAsync(1_000);
    calls[0]?.fail(new TypeError('offline'));
    await settle();
    const { data, error, isLoading } = cache.peek(ask.key);
    expect([data, error instanceof CausewayError, error?.code, isLoading]).toEqual([
      'old',
      true,
      'network_error',
      false,
    ]);
  });

  test('polls keep the shortest pace that is asked for, one at a time, and the pause that the service asks for', async () => {
    const { ask, calls } = held();
    const cache = createCache(client, { [ask.key]: 'old' });
    cache.watch(ask, 5_000, never);
    const leave = cache.watch(ask, 1_000, never);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(calls).toHaveLength(1);
    calls[0]?.fail(new CausewayError({ code: 'rate_limited', status: 429, message: '', retryAfter: 30 }));
    await vi.advanceTimersByTimeAsync(29_999);
    expect(calls).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(calls).toHaveLength(2);
    calls[1]?.answer('new');
    await settle();
    leave();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(calls).toHaveLength(3);
  });

  test('what was preloaded is shown at once and asked for only when it is old', async () => {
    const { ask, calls } = held();
    const cache = createCache(client, { [ask.key]: 'preloaded' });
    expect(cache.peekInitial(ask.key)).toEqual({ data: 'preloaded', error: undefined, isLoading: false });
    cache.watch(ask, undefined, never)();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(calls).toHaveLength(0);
    cache.watch(ask, undefined, never);
    await settle();
    expect(calls).toHaveLength(1);
    expect(cache.peek(ask.key).data).toBe('preloaded');
  });

  test('a change asks again at once for what is on screen, and drops the answer that was on its way', async () => {
    const { ask, calls } = held();
    const cache = createCache(client);
    cache.watch(ask, undefined, never);
    await settle();
    cache.invalidate((key) => key.startsWith('offer:'));
    await settle();
    expect(calls.map(({ signal }) => signal?.aborted)).toEqual([true, false]);
    calls[0]?.answer('before the change');
    calls[1]?.answer('after the change');
    await settle();
    expect(cache.peek(ask.key).data).toBe('after the change');
  });

  test('a refresh waits for an answer that was asked for after it', async () => {
    const { ask, calls } = held();
    const cache = createCache(client);
    cache.watch(ask, undefined, never);
    await settle();
    const refreshed = cache.refresh(ask);
    calls[0]?.answer('before');
    await settle();
    calls[1]?.answer('after');
    await refreshed;
    expect(cache.peek(ask.key).data).toBe('after');
  });

  test('quotes of every amount ever typed are not kept', async () => {
    const cache = createCache(client, { 'quote:0': 'first' });
    const state = cache.peek('quote:0');
    for (let index = 1; index < 400; index++)
      cache.watch({ key: `quote:${index}`, load: async () => index }, undefined, never)();
    await vi.advanceTimersByTimeAsync(10);
    for (let index = 400; index < 800; index++) cache.peek(`quote:${index}`);
    expect(cache.peek('quote:399').data).toBeUndefined();
    expect(state.data).toBe('first');
  });
});
