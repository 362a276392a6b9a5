import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Registry } from 'prom-client';
import Type from 'typebox';
import { afterEach, expect, test } from 'vitest';
import { createCircuitBreaker } from './circuit-breaker.ts';
import { openUpstream, readAs, type Upstream, upstreamFailureOf } from './upstream.ts';

const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

async function listen(answer: RequestListener): Promise<{ url: string; server: Server }> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push(async () => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}

async function upstreamOf(answer: RequestListener, path = ''): Promise<Upstream & { seen: string[] }> {
  const seen: string[] = [];
  const { url } = await listen((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    answer(request, response);
  });
  const upstream = openUpstream({
    name: 'venue',
    url: `${url}${path}`,
    timeout: 400,
    registry: new Registry(),
  });
  open.push(upstream.close);
  return Object.assign(upstream, { seen });
}

const kindOf = (call: Promise<unknown>) =>
  call.then(
    () => 'answered',
    (error) => `${error.code} ${error.details.upstream} ${upstreamFailureOf(error)?.kind}`,
  );

test('answers of any status with JSON are given back, below the base path', async () => {
  const upstream = await upstreamOf((_, response) => {
    response.writeHead(422, { 'x-odd': 'yes' }).end('{"error":"no"}');
  }, '/api');
  const reply = await upstream.request({ method: 'POST', path: '/things?a=%20b', body: '{}' });
  expect(reply).toMatchObject({ status: 422, body: { error: 'no' }, headers: { 'x-odd': 'yes' } });
  expect(upstream.seen).toEqual(['POST /api/things?a=%20b']);
});

test('a request that may change something is sent once, whatever happens to its answer', async () => {
  const upstream = await upstreamOf((request) => request.socket.destroy());
  expect(await kindOf(upstream.request({ method: 'POST', path: '/' }))).toBe(
    'upstream_unavailable venue silent',
  );
  expect(upstream.seen).toHaveLength(1);
});

test('a read is tried once more, with headers made anew', async () => {
  let count = 0;
  const upstream = await upstreamOf((request, response) => {
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
  ['silence', () => {}, 'upstream_unavailable venue silent'],
  [
    '502',
    (_: unknown, r: { writeHead(s: number): { end(t?: string): void } }) => r.writeHead(502).end('{}'),
    'upstream_unavailable venue silent',
  ],
  ['HTML', (_: unknown, r: { end(t: string): void }) => r.end('<html>'), 'upstream_error venue nonsense'],
  [
    'too much',
    (_: unknown, r: { end(t: string): void }) => r.end(`"${'x'.repeat(3_000_000)}"`),
    'upstream_error venue nonsense',
  ],
] as const)('%s is a coded error that names the upstream', async (_name, answer, expected) => {
  const upstream = await upstreamOf(answer as unknown as RequestListener);
  expect(await kindOf(upstream.request({ method: 'POST', path: '/' }))).toBe(expected);
});

test('nobody there means that nothing happened', async () => {
  const { url, server } = await listen(() => {});
  await new Promise((resolve) => server.close(resolve));
  const upstream = openUpstream({ name: 'venue', url, timeout: 400 });
  open.push(upstream.close);
  expect(await kindOf(upstream.request({ method: 'POST', path: '/' }))).toBe(
    'upstream_unavailable venue refused',
  );
});

test('who asks to be left alone is left alone for as long, and callers learn for how long', async () => {
  const upstream = await upstreamOf((_, response) => response.writeHead(429, { 'retry-after': '7' }).end());
  const first = upstream.request({ method: 'GET', path: '/' });
  await expect(first).rejects.toMatchObject({ headers: { 'retry-after': '7' } });
  await expect(upstream.request({ method: 'GET', path: '/' })).rejects.toMatchObject({
    code: 'upstream_unavailable',
    headers: { 'retry-after': '7' },
  });
  expect(upstream.seen).toHaveLength(1);
});

test('errors carry nothing of what was sent or received', async () => {
  const upstream = await upstreamOf((_, response) => response.end('<secret-received>'));
  const error = await upstream
    .request({
      method: 'POST',
      path: '/secret-path',
      headers: () => ({ key: 'secret-header' }),
      body: 'secret-sent',
    })
    .catch((thrown) => thrown);
  const told = JSON.stringify([error.message, error.details, error.cause.message, error.cause.stack]);
  expect(told).not.toMatch(/secret-(path|header|sent|received)/);
});

test('an answer of another shape is upstream_error', () => {
  const schema = Type.Object({ token: Type.String() });
  expect(readAs('venue', schema, { token: 'x' })).toEqual({ token: 'x' });
  expect(() => readAs('venue', schema, { token: 1 })).toThrow('A system we depend on gave a bad answer.');
});

test('the circuit opens after five silences, lets one probe through, and closes when that succeeds', () => {
  let now = 0;
  const circuit = createCircuitBreaker(() => now);
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
