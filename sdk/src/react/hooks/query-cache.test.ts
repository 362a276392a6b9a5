import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createCauseway } from '../../client.ts';
import { CausewayError } from '../../error.ts';
import { createQueryCache } from './query-cache.ts';

const client = createCauseway({ baseUrl: 'http://service.test', accessToken: 't' });
const ignore = () => undefined;

/** A query that keeps each request pending until the test resolves or rejects it. */
function deferredQuery() {
  const requests: {
    resolve(data: unknown): void;
    reject(error: unknown): void;
    signal: AbortSignal | undefined;
  }[] = [];
  const query = {
    key: 'offer:"x"',
    load: (_: unknown, signal?: AbortSignal) =>
      new Promise<unknown>((resolve, reject) => requests.push({ resolve, reject, signal })),
  };
  return { query, requests };
}
const flush = () => vi.advanceTimersByTimeAsync(0);

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('the query cache', () => {
  test('sends one request for many subscribers and notifies all of them', async () => {
    const { query, requests } = deferredQuery();
    const cache = createQueryCache(client);
    const listeners = [vi.fn(), vi.fn(), vi.fn()];
    for (const listener of listeners) cache.subscribe(query, undefined, listener);
    await flush();
    expect(requests).toHaveLength(1);
    requests[0]?.resolve('here');
    await flush();
    expect(cache.getState(query.key)).toEqual({ data: 'here', error: undefined, isLoading: false });
    for (const listener of listeners) expect(listener).toHaveBeenCalledTimes(1);
  });

  test('keeps the request of a subscriber that leaves and returns immediately', async () => {
    const { query, requests } = deferredQuery();
    const cache = createQueryCache(client);
    cache.subscribe(query, undefined, ignore)();
    cache.subscribe(query, undefined, ignore);
    await flush();
    expect(requests.map(({ signal }) => signal?.aborted)).toEqual([false]);
  });

  test('aborts the request when the last subscriber leaves, and ignores a late response', async () => {
    const { query, requests } = deferredQuery();
    const cache = createQueryCache(client);
    const unsubscribe = [
      cache.subscribe(query, undefined, ignore),
      cache.subscribe(query, undefined, ignore),
    ];
    await flush();
    unsubscribe[0]?.();
    await flush();
    expect(requests[0]?.signal?.aborted).toBe(false);
    unsubscribe[1]?.();
    await flush();
    expect(requests[0]?.signal?.aborted).toBe(true);
    requests[0]?.resolve('late');
    await flush();
    expect(cache.getState(query.key).data).toBeUndefined();
  });

  test('keeps old data when a reload fails, and reports the failure as a CausewayError', async () => {
    const { query, requests } = deferredQuery();
    const cache = createQueryCache(client, { [query.key]: 'old' });
    cache.subscribe(query, 1_000, ignore);
    await vi.advanceTimersByTimeAsync(1_000);
    requests[0]?.reject(new TypeError('offline'));
    await flush();
    const { data, error, isLoading } = cache.getState(query.key);
    expect([data, error instanceof CausewayError, error?.code, isLoading]).toEqual([
      'old',
      true,
      'network_error',
      false,
    ]);
  });

  test('polls at the shortest requested interval, one request at a time, and honours Retry-After', async () => {
    const { query, requests } = deferredQuery();
    const cache = createQueryCache(client, { [query.key]: 'old' });
    cache.subscribe(query, 5_000, ignore);
    const unsubscribe = cache.subscribe(query, 1_000, ignore);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(requests).toHaveLength(1);
    requests[0]?.reject(
      new CausewayError({ code: 'rate_limited', status: 429, message: '', retryAfter: 30 }),
    );
    await vi.advanceTimersByTimeAsync(29_999);
    expect(requests).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(requests).toHaveLength(2);
    requests[1]?.resolve('new');
    await flush();
    unsubscribe();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(requests).toHaveLength(3);
  });

  test('shows preloaded data immediately and reloads it only once it is stale', async () => {
    const { query, requests } = deferredQuery();
    const cache = createQueryCache(client, { [query.key]: 'preloaded' });
    expect(cache.getInitialState(query.key)).toEqual({
      data: 'preloaded',
      error: undefined,
      isLoading: false,
    });
    cache.subscribe(query, undefined, ignore)();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(requests).toHaveLength(0);
    cache.subscribe(query, undefined, ignore);
    await flush();
    expect(requests).toHaveLength(1);
    expect(cache.getState(query.key).data).toBe('preloaded');
  });

  test('reloads an invalidated query immediately and drops the response in flight', async () => {
    const { query, requests } = deferredQuery();
    const cache = createQueryCache(client);
    cache.subscribe(query, undefined, ignore);
    await flush();
    cache.invalidate((key) => key.startsWith('offer:'));
    await flush();
    expect(requests.map(({ signal }) => signal?.aborted)).toEqual([true, false]);
    requests[0]?.resolve('before the change');
    requests[1]?.resolve('after the change');
    await flush();
    expect(cache.getState(query.key).data).toBe('after the change');
  });

  test('resolves a refresh with data requested after the refresh started', async () => {
    const { query, requests } = deferredQuery();
    const cache = createQueryCache(client);
    cache.subscribe(query, undefined, ignore);
    await flush();
    const refreshed = cache.refresh(query);
    requests[0]?.resolve('before');
    await flush();
    requests[1]?.resolve('after');
    await refreshed;
    expect(cache.getState(query.key).data).toBe('after');
  });

  test('evicts unused entries, such as quotes for amounts typed earlier', async () => {
    const cache = createQueryCache(client, { 'quote:0': 'first' });
    const state = cache.getState('quote:0');
    for (let index = 1; index < 400; index++)
      cache.subscribe({ key: `quote:${index}`, load: async () => index }, undefined, ignore)();
    await vi.advanceTimersByTimeAsync(10);
    for (let index = 400; index < 800; index++) cache.getState(`quote:${index}`);
    expect(cache.getState('quote:399').data).toBeUndefined();
    expect(state.data).toBe('first');
  });
});

test('data of a page is seeded later, and does not replace newer data', async () => {
  const { query, requests } = deferredQuery();
  const cache = createQueryCache(client);
  const notify = vi.fn();
  cache.getState(query.key);
  cache.seed({ [query.key]: 'page' });
  expect([cache.getState(query.key).data, cache.getInitialState(query.key).data]).toEqual(['page', 'page']);
  cache.subscribe(query, undefined, notify);
  const refreshed = cache.refresh(query);
  await flush();
  requests[0]?.resolve('newer');
  await refreshed;
  cache.seed({ [query.key]: 'older page' });
  expect(cache.getState(query.key).data).toBe('newer');
  expect(requests).toHaveLength(1);
});
