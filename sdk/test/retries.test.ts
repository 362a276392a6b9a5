import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Call, createCauseway, type TokenSource } from '../src/index.ts';

type Reply =
  | { status: number; body?: object; headers?: Record<string, string> }
  | 'disconnect'
  | 'no response';

/** The replies of the fake service, in order. After the last reply, the service replies with 200. */
let replies: Reply[];
let requests: { method: string; key: string | undefined; token: string | undefined; at: number }[];
let server: ReturnType<typeof createServer>;
let calls: Call[];
let url: string;

beforeEach(async () => {
  [replies, requests, calls] = [[], [], []];
  server = createServer((request: IncomingMessage, response) => {
    const { 'idempotency-key': key, authorization } = request.headers;
    const token = authorization?.replace('Bearer ', '');
    requests.push({
      method: request.method ?? '',
      key: key as string | undefined,
      token,
      at: performance.now(),
    });
    const reply = replies.shift() ?? { status: 200, body: { object: 'list', data: [] } };
    if (reply === 'no response') return;
    if (reply === 'disconnect') return void request.socket.destroy();
    response.writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers });
    response.end(JSON.stringify(reply.body ?? errorBody(reply.status)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const CODES: Record<number, string> = {
  401: 'unauthorized',
  409: 'idempotency_in_progress',
  429: 'rate_limited',
};
const errorBody = (status: number) => ({
  ...{ message: 'no', type: 'api_error', errors: {}, event_id: 'e-1' },
  code: CODES[status] ?? 'upstream_unavailable',
});
const client = (accessToken: TokenSource = 'one', options: { timeout?: number; retries?: number } = {}) =>
  createCauseway({ baseUrl: url, accessToken, onCall: (call) => void calls.push(call), ...options });

describe('a GET', () => {
  test.each<[string, Reply]>([
    ['502', { status: 502 }],
    ['503', { status: 503 }],
    ['504', { status: 504 }],
    ['429', { status: 429 }],
    ['a broken connection', 'disconnect'],
  ])('is retried after %s', async (_name, reply) => {
    replies = [reply, reply];
    await client().pii.get();
    expect(requests.length).toBe(3);
    expect(calls.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
  });

  test('fails with the last error after all retries', async () => {
    replies = Array.from({ length: 9 }, () => ({ status: 503 }));
    const error = await client('one', { retries: 2 })
      .pii.get()
      .catch((error) => error);
    expect([error.code, error.status, error.eventId, requests.length]).toEqual([
      'upstream_unavailable',
      503,
      'e-1',
      3,
    ]);
  });

  test.each([400, 403, 404, 422, 500])('is not retried after %i', async (status) => {
    replies = [{ status }];
    await expect(client().pii.get()).rejects.toMatchObject({ status });
    expect(requests.length).toBe(1);
  });

  test('times out if the service does not respond', async () => {
    replies = ['no response', 'no response'];
    await expect(client('one', { timeout: 60, retries: 1 }).pii.get()).rejects.toMatchObject({
      ...{ code: 'timeout', status: 0 },
    });
    expect(requests.length).toBe(2);
  });

  test('fails with unexpected_reply if the response is not JSON', async () => {
    const proxy = createServer((_request, response) => response.end('<html>a proxy</html>'));
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const baseUrl = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const error = await createCauseway({ baseUrl, accessToken: 'one' })
      .pii.get()
      .catch((error) => error);
    proxy.closeAllConnections();
    proxy.close();
    expect([error.code, error.status]).toEqual(['unexpected_reply', 200]);
  });
});

describe('a POST', () => {
  test('is retried with the same idempotency key, and another call has another key', async () => {
    replies = ['disconnect', { status: 503 }, { status: 409 }];
    await client().kyc.token();
    await client().kyc.token();
    const keys = requests.map(({ key }) => key);
    expect(keys.length).toBe(5);
    expect(new Set(keys.slice(0, 4)).size).toBe(1);
    expect(keys[4]).not.toBe(keys[0]);
    expect(keys.every((key) => key !== undefined && key !== '')).toBe(true);
  });

  test('uses the given idempotency key', async () => {
    await client().kyc.token({}, { idempotencyKey: 'stored-key' });
    expect(requests[0]?.key).toBe('stored-key');
  });
});

describe('a DELETE', () => {
  test.each<[string, Reply]>([
    ['503', { status: 503 }],
    ['a broken connection', 'disconnect'],
  ])('is not retried after %s, because the service may have processed it', async (_name, reply) => {
    replies = [reply];
    await expect(client().wallets.remove('o', 'a')).rejects.toMatchObject({ name: 'CausewayError' });
    expect(requests.length).toBe(1);
  });

  test('is retried after 429, which means that the service did not process it', async () => {
    replies = [{ status: 429, headers: { 'retry-after': '0' } }];
    await client().wallets.remove('o', 'a');
    expect(requests.length).toBe(2);
  });
});

describe('Retry-After', () => {
  test('delays the retry', async () => {
    replies = [{ status: 429, headers: { 'retry-after': '1' } }];
    await client().pii.get();
    expect((requests[1]?.at ?? 0) - (requests[0]?.at ?? 0)).toBeGreaterThanOrEqual(990);
  });

  test('above 30 seconds fails the call', async () => {
    replies = [{ status: 429, headers: { 'retry-after': '3600' } }];
    await expect(client().pii.get()).rejects.toMatchObject({ code: 'rate_limited', retryAfter: 3600 });
    expect(requests.length).toBe(1);
  });
});

describe('an abort', () => {
  test('rejects a running call with its reason', async () => {
    replies = ['no response'];
    const controller = new AbortController();
    const call = client().pii.get({ signal: controller.signal });
    await expect.poll(() => requests.length).toBe(1);
    controller.abort(new Error('cancelled'));
    await expect(call).rejects.toThrow('cancelled');
  });

  test('ends the wait for a retry', async () => {
    replies = [{ status: 429, headers: { 'retry-after': '29' } }];
    const controller = new AbortController();
    const call = client().pii.get({ signal: controller.signal });
    await expect.poll(() => calls.length).toBe(1);
    controller.abort();
    await expect(call).rejects.toMatchObject({ name: 'AbortError' });
    expect(requests.length).toBe(1);
  });

  test('before the call prevents any request', async () => {
    await expect(client().pii.get({ signal: AbortSignal.abort() })).rejects.toMatchObject({
      name: 'AbortError',
    });
    expect(requests.length).toBe(0);
  });
});

describe('a rejected token', () => {
  test('is replaced once', async () => {
    replies = [{ status: 401 }];
    const refreshes: boolean[] = [];
    await client(({ refresh }) => {
      refreshes.push(refresh);
      return refresh ? 'two' : 'one';
    }).pii.get();
    expect(requests.map(({ token }) => token)).toEqual(['one', 'two']);
    expect(refreshes).toEqual([false, true]);
  });

  test('fails the call if its replacement is rejected too', async () => {
    replies = [{ status: 401 }, { status: 401 }];
    await expect(client(() => 'one').pii.get()).rejects.toMatchObject({ code: 'unauthorized' });
    expect(requests.length).toBe(2);
  });
});
