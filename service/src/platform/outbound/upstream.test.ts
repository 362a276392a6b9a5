import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Registry } from 'prom-client';
import Type from 'typebox';
import { afterEach, expect, test } from 'vitest';
import { createCircuitBreaker } from './circuit-breaker.ts';
import { failureOfStatus, upstreamFailureOf } from './failure.ts';
import { openUpstream, parseBody, type Upstream } from './upstream.ts';

const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

async function listen(handler: RequestListener): Promise<{ url: string; server: Server }> {
  const server = createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push(async () => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}

async function startUpstream(handler: RequestListener, path = ''): Promise<Upstream & { seen: string[] }> {
  const seen: string[] = [];
  const { url } = await listen((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    handler(request, response);
  });
  const upstream = openUpstream({
    name: 'venue',
    url: `${url}${path}`,
    timeoutMs: 400,
    registry: new Registry(),
  });
  open.push(upstream.close);
  return Object.assign(upstream, { seen });
}

const outcomeOf = (call: Promise<unknown>) =>
  call.then(
    () => 'answered',
    (error) => `${error.code} ${error.details.upstream} ${upstreamFailureOf(error)?.kind}`,
  );

test('returns JSON responses of any status and prefixes the base path', async () => {
  const upstream = await startUpstream((_, response) => {
    response.writeHead(422).end('{"error":"no"}');
  }, '/api');
  const reply = await upstream.request({ method: 'POST', path: '/things?a=%20b', body: '{}' });
  expect(reply).toMatchObject({ status: 422, body: { error: 'no' } });
  expect(upstream.seen).toEqual(['POST /api/things?a=%20b']);
});

test('sends a request that is not repeatable only once', async () => {
  const upstream = await startUpstream((request) => request.socket.destroy());
  expect(await outcomeOf(upstream.request({ method: 'POST', path: '/' }))).toBe(
    'upstream_unavailable venue no_response',
  );
  expect(upstream.seen).toHaveLength(1);
});

test('retries a GET once, with fresh headers', async () => {
  let count = 0;
  const upstream = await startUpstream((request, response) => {
    if (count++ === 0) request.socket.destroy();
    else response.end(JSON.stringify({ sign: request.headers.sign }));
  });
  let made = 0;
  const reply = await upstream.request({
    method: 'GET',
    path: '/',
    headers: () => ({ sign: String(made++) }),
  });
  expect(reply.body).toEqual({ sign: '1' });
});

test.each([
  ['no response', () => {}, 'upstream_unavailable venue no_response'],
  [
    '502',
    (_: unknown, r: { writeHead(s: number): { end(t?: string): void } }) => r.writeHead(502).end('{}'),
    'upstream_unavailable venue no_response',
  ],
  [
    'HTML',
    (_: unknown, r: { end(t: string): void }) => r.end('<html>'),
    'upstream_error venue invalid_response',
  ],
  [
    'a response that is too large',
    (_: unknown, r: { end(t: string): void }) => r.end(`"${'x'.repeat(3_000_000)}"`),
    'upstream_error venue invalid_response',
  ],
] as const)('maps %s to an error code and names the upstream', async (_name, handler, expected) => {
  const upstream = await startUpstream(handler as unknown as RequestListener);
  expect(await outcomeOf(upstream.request({ method: 'POST', path: '/' }))).toBe(expected);
});

test('reports a refused connection as not sent', async () => {
  const { url, server } = await listen(() => {});
  await new Promise((resolve) => server.close(resolve));
  const upstream = openUpstream({ name: 'venue', url, timeoutMs: 400 });
  open.push(upstream.close);
  expect(await outcomeOf(upstream.request({ method: 'POST', path: '/' }))).toBe(
    'upstream_unavailable venue not_sent',
  );
});

test.each([429, 503])('honours Retry-After of a %s and passes it on to callers', async (status) => {
  const upstream = await startUpstream((_, response) =>
    response.writeHead(status, { 'retry-after': '7' }).end(),
  );
  const first = upstream.request({ method: 'GET', path: '/' });
  await expect(first).rejects.toMatchObject({ headers: { 'retry-after': '7' } });
  await expect(upstream.request({ method: 'GET', path: '/' })).rejects.toMatchObject({
    code: 'upstream_unavailable',
    headers: { 'retry-after': '7' },
  });
  expect(upstream.seen).toHaveLength(1);
});

test('a 503 with Retry-After does not show that the request had no effect', async () => {
  const upstream = await startUpstream((_, response) =>
    response.writeHead(503, { 'retry-after': '7' }).end(),
  );
  expect(await outcomeOf(upstream.request({ method: 'POST', path: '/' }))).toBe(
    'upstream_unavailable venue no_response',
  );
});

test.each(['soon', '0'])('a 503 with `Retry-After: %s` is retried at once', async (value) => {
  const upstream = await startUpstream((_, response) => {
    if (upstream.seen.length > 1) response.end('{}');
    else response.writeHead(503, { 'retry-after': value }).end();
  });
  expect(await outcomeOf(upstream.request({ method: 'GET', path: '/' }))).toBe('answered');
});

test.each([429, 503])(
  'reads Retry-After of a %s as seconds or an HTTP date, and waits at most an hour',
  (status) => {
    const secondsOf = (value?: string) => {
      const other = ['x-name', 'retry-after'];
      const headers = value === undefined ? other : [...other, 'Retry-After', value];
      return failureOfStatus({ status, rawHeaders: headers.map((text) => Buffer.from(text)) })
        ?.retryAfterSeconds;
    };
    expect(['120', '99999', '9'.repeat(400)].map(secondsOf)).toEqual([120, 3600, 3600]);
    const inHalfAnHour = secondsOf(new Date(Date.now() + 1_800_000).toUTCString());
    expect(inHalfAnHour).toBeGreaterThan(900);
    expect(inHalfAnHour).toBeLessThanOrEqual(1800);
    expect(secondsOf('Fri, 01 Jan 2100 00:00:00 GMT')).toBe(3600);
    for (const value of [
      'Fri, 02 Jan 2020 00:01:00 GMT',
      '0',
      '-5',
      '1e9',
      'Infinity',
      'soon',
      '',
      undefined,
    ])
      expect(secondsOf(value)).toBe(1);
  },
);

test('keeps the request and the response out of errors', async () => {
  const upstream = await startUpstream((_, response) => response.end('<secret-received>'));
  const error = await upstream
    .request({
      method: 'POST',
      path: '/secret-path',
      headers: () => ({ key: 'secret-header' }),
      body: 'secret-sent',
    })
    .catch((thrown) => thrown);
  const shown = JSON.stringify([error.message, error.details, error.cause.message, error.cause.stack]);
  expect(shown).not.toMatch(/secret-(path|header|sent|received)/);
});

test('parseBody throws upstream_error for an unexpected shape', () => {
  const schema = Type.Object({ token: Type.String() });
  expect(parseBody('venue', schema, { token: 'x' })).toEqual({ token: 'x' });
  expect(() => parseBody('venue', schema, { token: 1 })).toThrow(
    'An external service returned an invalid response.',
  );
});

test('the circuit opens after five failures, lets one probe through and closes when it succeeds', () => {
  let now = 0;
  const circuit = createCircuitBreaker({ now: () => now });
  for (let i = 0; i < 4; i++) circuit.fail();
  expect(circuit.wait()).toBe(0);
  circuit.fail();
  expect(circuit.wait()).toBe(250);
  now = 250;
  expect(circuit.wait()).toBe(0);
  expect(circuit.wait()).toBeGreaterThan(0);
  circuit.fail();
  expect(circuit.wait()).toBe(500);
  now = 750;
  expect(circuit.wait()).toBe(0);
  circuit.succeed();
  expect([circuit.wait(), circuit.wait()]).toEqual([0, 0]);
});
