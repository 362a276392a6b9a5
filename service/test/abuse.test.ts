import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type TestApp, testApp, testConfig } from './support/app.ts';

/** A text larger than what the operating system buffers for a connection. */
const LARGE = 'x'.repeat(16_000_000);

let app: TestApp;
let port: number;
beforeAll(async () => {
  app = await testApp({
    listen: true,
    config: {
      requestTimeoutSeconds: 1,
      limits: { ...testConfig().limits, authorize: 3, failed_authentication: 3 },
    },
    plugins: [
      () => (server) =>
        void server.get('/large', { config: { access: { who: 'public' } } }, async () => LARGE),
    ],
  });
  port = Number(new URL(app.ctx.baseUrl).port);
});
afterAll(() => app.close());

/** Sends bytes on a new connection and returns everything received until the server closes the connection. */
function exchange(bytes: string | Buffer): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    socket.on('data', (chunk) => (text += chunk.toString('latin1')));
    socket.on('error', () => undefined).on('close', () => resolve(text));
  });
}

/** Splits a raw reply, and checks that it is an error object with the security headers. */
function parseFailure(text: string) {
  const [head = '', body = ''] = text.split('\r\n\r\n');
  expect(head.toLowerCase()).toContain('x-content-type-options: nosniff');
  expect(head.toLowerCase()).toContain("content-security-policy: default-src 'none'");
  expect(head.toLowerCase()).toContain('cache-control: no-store');
  const failure = JSON.parse(body);
  expect(failure).toMatchObject({ type: 'api_error', errors: {}, event_id: expect.any(String) });
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1]), code: failure.code };
}

const isAlive = async () => expect((await fetch(`${app.ctx.baseUrl}/health`)).status).toBe(200);

describe('clients that take too long are disconnected', () => {
  test('silent connections', async () => {
    expect(await exchange('')).toMatch(/^(HTTP\/1\.1 4|$)/);
  });

  test('slow headers, with the error object', async () => {
    const reply = await exchange('GET /health HTTP/1.1\r\nhost: x\r\n');
    expect(parseFailure(reply)).toEqual({ status: 400, code: 'malformed_request' });
  });

  test('slow bodies, with the error object', async () => {
    const head = 'POST /oauth/introspect HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n';
    const reply = await exchange(`${head}content-length: 100\r\n\r\n{`);
    expect(parseFailure(reply)).toEqual({ status: 400, code: 'malformed_request' });
  });

  test('slow readers, and others whose connection does not move', async () => {
    const { server } = app.app;
    expect(server.timeout).toBe(31_000);
    server.timeout = 500;
    const socket = connect(port, '127.0.0.1', () => socket.write('GET /large HTTP/1.1\r\nhost: x\r\n\r\n'));
    socket.on('error', () => undefined);
    await once(server, 'request');
    const connections = () =>
      new Promise((resolve) => server.getConnections((_error, count) => resolve(count)));
    await expect.poll(connections).toBe(0);
    server.timeout = 31_000;
    socket.destroy();
    await isAlive();
  });

  test('but not clients that read on', async () => {
    expect((await (await fetch(`${app.ctx.baseUrl}/large`)).text()).length).toBe(LARGE.length);
  });
});

describe('requests that cannot be parsed get the error object and the security headers', () => {
  const get = (headers: string) => `GET /health HTTP/1.1\r\nhost: x\r\n${headers}\r\n\r\n`;
  const post = (headers: string, body: string) =>
    `POST /oauth/introspect HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n${headers}\r\n\r\n${body}`;
  test.each<[string, string | Buffer, number]>([
    ['no HTTP at all', 'NONSENSE\r\n\r\n', 400],
    ['a TLS handshake', Buffer.from('160301020001000001fc0303', 'hex'), 400],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
    ['an unknown version', 'GET / HTTP/3.7\r\nhost: x\r\n\r\n', 400],
    ['a method with a space', 'GE T / HTTP/1.1\r\nhost: x\r\n\r\n', 400],
    ['no Host', 'GET /health HTTP/1.1\r\nconnection: close\r\n\r\n', 400],
    ['two Hosts', get('host: y\r\nconnection: close'), 400],
    ['a header without a colon', get('nonsense'), 400],
    ['a NUL in a header', get('x-a: \0'), 400],
    ['a folded header', get('x-a: 1\r\n 2'), 400],
    ['a space before the colon', get('x-a : 1'), 400],
    ['an overlong header', get(`x-a: ${'a'.repeat(20_000)}`), 413],
    ['an overlong URL', `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nhost: x\r\n\r\n`, 414],
    ['two lengths', post('content-length: 2\r\ncontent-length: 3', '{}'), 400],
    ['a negative length', post('content-length: -1', '{}'), 400],
    ['a length and chunks', post('content-length: 2\r\ntransfer-encoding: chunked', '0\r\n\r\n'), 400],
    ['an unknown transfer encoding', post('transfer-encoding: gzip', '{}'), 400],
    ['a broken chunk', post('transfer-encoding: chunked', 'zz\r\n{}\r\n0\r\n\r\n'), 400],
    ['an unknown expectation', get('expect: tea'), 400],
    ['a tunnel', 'CONNECT example.com:443 HTTP/1.1\r\nhost: example.com:443\r\n\r\n', 405],
  ])('%s', async (_name, bytes, status) => {
    expect(parseFailure(await exchange(bytes)).status).toBe(status);
    await isAlive();
  });

  test('a second request smuggled behind the first is not answered with a reply of its own', async () => {
    const smuggled = 'GET /large HTTP/1.1\r\nhost: x\r\n\r\n';
    const reply = await exchange(
      post('transfer-encoding: chunked\r\ncontent-length: 5', `0\r\n\r\n${smuggled}`),
    );
    expect(reply.match(/HTTP\/1\.1 /g)).toHaveLength(1);
    expect(parseFailure(reply).status).toBe(400);
  });
});

test('sign-ins of partners are limited per address', async () => {
  const authorize = (remoteAddress: string) =>
    app.app.inject({ url: '/oauth/authorize?client_id=nobody', remoteAddress });
  for (let i = 0; i < 3; i++) expect((await authorize('198.51.100.1')).statusCode).toBe(400);
  const refused = await authorize('198.51.100.1');
  expect([refused.statusCode, refused.json().code]).toEqual([429, 'rate_limited']);
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  expect((await authorize('198.51.100.2')).statusCode).toBe(400);
});

describe('a network that keeps presenting unknown secrets', () => {
  const unknown = () => randomBytes(32).toString('base64url');
  const read = (remoteAddress: string, token: string) =>
    app.app.inject({ url: '/v1/offers', remoteAddress, headers: { authorization: `Bearer ${token}` } });
  const post = (remoteAddress: string, url: string, members: Record<string, string>) =>
    app.app.inject({
      ...{ method: 'POST', url, remoteAddress },
      payload: { client_id: unknown(), client_secret: unknown(), ...members },
    });

  test.each([
    ['tokens', (network: string) => read(network, unknown())],
    [
      'secrets at the token endpoint',
      (network: string) => post(network, '/oauth/token', { grant_type: 'client_credentials' }),
    ],
    [
      'secrets at introspection',
      (network: string) => post(network, '/oauth/introspect', { token: unknown() }),
    ],
  ])('is refused before the database is read: %s', async (name, attempt) => {
    const network = `203.0.113.${name.length}`;
    const cached = await app.tokenFor();
    expect((await read(network, cached)).statusCode).toBe(200);
    for (let i = 0; i < 3; i++) expect((await attempt(network)).statusCode).toBe(401);
    const refused = await attempt(network);
    expect([refused.statusCode, refused.json().code]).toEqual([429, 'rate_limited']);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect((await read(network, cached)).statusCode).toBe(200);
    expect((await attempt('203.0.113.99')).statusCode).toBe(401);
    expect((await app.app.inject({ url: '/oauth/jwks', remoteAddress: network })).statusCode).toBe(200);
  });
});
