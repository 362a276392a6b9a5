import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Call, createCauseway, type TokenSource } from '../src/index.ts';

type Answer = { status: number; body?: object; headers?: Record<string, string> } | 'hang up' | 'silence';

/** A service that gives the answers it is told to, one after the other, then a good one. */
let answers: Answer[];
let asked: { method: string; key: string | undefined; token: string | undefined; at: number }[];
let server: ReturnType<typeof createServer>;
let calls: Call[];
let url: string;

beforeEach(async () => {
  [answers, asked, calls] = [[], [], []];
  server = createServer((request: IncomingMessage, response) => {
    const { 'idempotency-key': key, authorization } = request.headers;
    const token = authorization?.replace('Bearer ', '');
    asked.push({
      method: request.method ?? '',
      key: key as string | undefined,
      token,
      at: performance.now(),
    });
    const answer = answers.shift() ?? { status: 200, body: { object: 'list', data: [] } };
    if (answer === 'silence') return;
    if (answer === 'hang up') return void request.socket.destroy();
    response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers });
    response.end(JSON.stringify(answer.body ?? errorBody(answer.status)));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
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
const client = (accessToken: TokenSource = 'one', more: { timeout?: number; retries?: number } = {}) =>
  createCauseway({ baseUrl: url, accessToken, onCall: (call) => void calls.push(call), ...more });

describe('a GET', () => {
  test.each<[string, Answer]>([
    ['502', { status: 502 }],
    ['503', { status: 503 }],
    ['504', { status: 504 }],
    ['429', { status: 429 }],
    ['a broken connection', 'hang up'],
  ])('is repeated after %s', async (_name, answer) => {
    answers = [answer, answer];
    await client().pii.get();
    expect(asked.length).toBe(3);
    expect(calls.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
  });

  test('is given up after the retries, with the last error', async () => {
    answers = Array.from({ length: 9 }, () => ({ status: 503 }));
    const error = await client('one', { retries: 2 })
      .pii.get()
      .catch((error) => error);
    expect([error.code, error.status, error.eventId, asked.length]).toEqual([
      'upstream_unavailable',
      503,
      'e-1',
      3,
    ]);
  });

  test.each([400, 403, 404, 422, 500])('is not repeated after %i', async (status) => {
    answers = [{ status }];
    await expect(client().pii.get()).rejects.toMatchObject({ status });
    expect(asked.length).toBe(1);
  });

  test('is given up when the service is silent for too long', async () => {
    answers = ['silence', 'silence'];
    await expect(client('one', { timeout: 60, retries: 1 }).pii.get()).rejects.toMatchObject({
      ...{ code: 'timeout', status: 0 },
    });
    expect(asked.length).toBe(2);
  });

  test('that gets something else than JSON is an unexpected reply', async () => {
    const plain = createServer((_request, response) => response.end('<html>a proxy</html>'));
    await new Promise<void>((done) => plain.listen(0, '127.0.0.1', done));
    const baseUrl = `http://127.0.0.1:${(plain.address() as AddressInfo).port}`;
    const error = await createCauseway({ baseUrl, accessToken: 'one' })
      .pii.get()
      .catch((error) => error);
    plain.closeAllConnections();
    plain.close();
    expect([error.code, error.status]).toEqual(['unexpected_reply', 200]);
  });
});

describe('a POST', () => {
  test('is repeated with the same idempotency key, and another call has another', async () => {
    answers = ['hang up', { status: 503 }, { status: 409 }];
    await client().kyc.token();
    await client().kyc.token();
    const keys = asked.map(({ key }) => key);
    expect(keys.length).toBe(5);
    expect(new Set(keys.slice(0, 4)).size).toBe(1);
    expect(keys[4]).not.toBe(keys[0]);
    expect(keys.every((key) => key !== undefined && key !== '')).toBe(true);
  });

  test('takes the key that it is given', async () => {
    await client().kyc.token({}, { idempotencyKey: 'of-the-page' });
    expect(asked[0]?.key).toBe('of-the-page');
  });
});

describe('a DELETE', () => {
  test.each<[string, Answer]>([
    ['503', { status: 503 }],
    ['a broken connection', 'hang up'],
  ])('is not repeated after %s: it may have happened', async (_name, answer) => {
    answers = [answer];
    await expect(client().wallets.remove('o', 'a')).rejects.toMatchObject({ name: 'CausewayError' });
    expect(asked.length).toBe(1);
  });

  test('is repeated when it was surely not carried out', async () => {
    answers = [{ status: 429, headers: { 'retry-after': '0' } }];
    await client().wallets.remove('o', 'a');
    expect(asked.length).toBe(2);
  });
});

describe('Retry-After', () => {
  test('is waited for', async () => {
    answers = [{ status: 429, headers: { 'retry-after': '1' } }];
    await client().pii.get();
    expect((asked[1]?.at ?? 0) - (asked[0]?.at ?? 0)).toBeGreaterThanOrEqual(990);
  });

  test('is left to the caller when it is long', async () => {
    answers = [{ status: 429, headers: { 'retry-after': '3600' } }];
    await expect(client().pii.get()).rejects.toMatchObject({ code: 'rate_limited', retryAfter: 3600 });
    expect(asked.length).toBe(1);
  });
});

describe('an abort', () => {
  test('ends a running call with its own reason', async () => {
    answers = ['silence'];
    const stop = new AbortController();
    const call = client().pii.get({ signal: stop.signal });
    await expect.poll(() => asked.length).toBe(1);
    stop.abort(new Error('enough'));
    await expect(call).rejects.toThrow('enough');
  });

  test('ends a pause between two attempts', async () => {
    answers = [{ status: 429, headers: { 'retry-after': '29' } }];
    const stop = new AbortController();
    const call = client().pii.get({ signal: stop.signal });
    await expect.poll(() => calls.length).toBe(1);
    stop.abort();
    await expect(call).rejects.toMatchObject({ name: 'AbortError' });
    expect(asked.length).toBe(1);
  });

  test('before the call sends nothing', async () => {
    await expect(client().pii.get({ signal: AbortSignal.abort() })).rejects.toMatchObject({
      name: 'AbortError',
    });
    expect(asked.length).toBe(0);
  });
});

describe('a refused token', () => {
  test('is replaced once', async () => {
    answers = [{ status: 401 }];
    const refreshes: boolean[] = [];
    await client(({ refresh }) => {
      refreshes.push(refresh);
      return refresh ? 'two' : 'one';
    }).pii.get();
    expect(asked.map(({ token }) => token)).toEqual(['one', 'two']);
    expect(refreshes).toEqual([false, true]);
  });

  test('twice is the end', async () => {
    answers = [{ status: 401 }, { status: 401 }];
    await expect(client(() => 'one').pii.get()).rejects.toMatchObject({ code: 'unauthorized' });
    expect(asked.length).toBe(2);
  });
});
