import { expect, test } from 'vitest';
import { cacheToken } from './cache-token.ts';

/** A token source that keeps each request pending until the test answers it. */
function setUp() {
  const requests: { refresh: boolean; answer(token: string): void; fail(error: Error): void }[] = [];
  const getToken = cacheToken(
    (refresh) =>
      new Promise((resolve, reject) => {
        const answer = (token: string) => resolve({ token, expiresInS: 900 });
        requests.push({ refresh, answer, fail: reject });
      }),
  );
  return { requests, get: async (refresh = false) => getToken({ refresh }) };
}

test('concurrent calls share one request, and later ones its token', async () => {
  const { requests, get } = setUp();
  const calls = [get(), get()];
  requests[0]?.answer('one');
  expect([...(await Promise.all(calls)), await get(), requests.length]).toEqual(['one', 'one', 'one', 1]);
});

test('after a rejected token, no call joins a request that may return the same token', async () => {
  const { requests, get } = setUp();
  const started = get();
  const refreshed = [get(true), get(true), get()];
  expect(requests.map(({ refresh }) => refresh)).toEqual([false, true]);
  requests[1]?.answer('new');
  expect(await Promise.all(refreshed)).toEqual(['new', 'new', 'new']);
  // The reply to the first request arrives last and must not replace the newer token.
  requests[0]?.answer('rejected');
  expect([await started, await get(), requests.length]).toEqual(['rejected', 'new', 2]);
});

test('a failed request is not kept', async () => {
  const { requests, get } = setUp();
  const failed = get(true);
  requests[0]?.fail(new Error('offline'));
  await expect(failed).rejects.toThrow('offline');
  const next = get();
  requests[1]?.answer('two');
  expect(await next).toBe('two');
});
