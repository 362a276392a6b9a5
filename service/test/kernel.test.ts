import { connect } from 'node:net';
import type { InjectOptions } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type TestApp, testApp } from './support/app.ts';
import { createThings, thingRoutes } from './support/things.ts';

let app: TestApp;
let token: string;
beforeAll(async () => {
  app = await testApp({ routes: thingRoutes });
  await createThings(app.ctx);
  token = await app.tokenFor({ origins: new Set(['https://app.partner.test']) });
});
afterAll(() => app.close());

const call = (options: InjectOptions & { token?: string }) =>
  app.app.inject({
    ...options,
    headers: { authorization: `Bearer ${options.token ?? token}`, ...options.headers },
  });
const post = (payload: unknown, headers: Record<string, string> = {}) =>
  call({
    method: 'POST',
    url: '/v1/things',
    payload: payload as string,
    headers: { 'content-type': 'application/json', ...headers },
  });

describe('the error object is returned for', () => {
  test.each<[string, InjectOptions, number, string]>([
    ['an unknown route', { method: 'GET', url: '/v1/nothing' }, 404, 'not_found'],
    ['an unsupported method', { method: 'DELETE', url: '/v1/things' }, 405, 'method_not_allowed'],
    [
      'invalid JSON',
      { method: 'POST', url: '/v1/things', payload: '{', headers: { 'content-type': 'application/json' } },
      400,
      'malformed_request',
    ],
    [
      'an unsupported content type',
      { method: 'POST', url: '/v1/things', payload: 'x', headers: { 'content-type': 'text/xml' } },
      415,
      'unsupported_media_type',
    ],
    [
      'a form on a route without forms',
      {
        method: 'POST',
        url: '/v1/json-only',
        payload: 'name=x',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      },
      415,
      'unsupported_media_type',
    ],
    [
      'a form with a duplicate name',
      {
        method: 'POST',
        url: '/v1/things',
        payload: 'name=x&name=y',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      },
      400,
      'malformed_request',
    ],
    [
      'an oversized body',
      {
        method: 'POST',
        url: '/v1/things',
        payload: JSON.stringify({ name: 'x'.repeat(70_000) }),
        headers: { 'content-type': 'application/json' },
      },
      413,
      'payload_too_large',
    ],
    ['an oversized URL', { method: 'GET', url: `/v1/things?x=${'x'.repeat(8200)}` }, 414, 'uri_too_long'],
    ['an invalid query encoding', { method: 'GET', url: '/v1/things?x=%zz' }, 400, 'malformed_request'],
    ['an invalid path encoding', { method: 'GET', url: '/v1/bug/%zz' }, 400, 'malformed_request'],
    ['an unexpected exception', { method: 'GET', url: '/v1/bug/1' }, 500, 'internal_error'],
  ])('%s', async (_name, options, status, code) => {
    const reply = await call(options);
    expect([reply.statusCode, reply.json().code]).toEqual([status, code]);
    expect(reply.json()).toEqual({
      message: expect.any(String),
      type: 'api_error',
      code,
      errors: expect.any(Object),
      event_id: reply.headers['x-request-id'],
    });
    expect(reply.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(reply.headers['cache-control']).toBe('no-store');
    expect(reply.headers['x-content-type-options']).toBe('nosniff');
  });

  test('an unexpected exception, without details for the caller, and logged under its event id without secrets', async () => {
    const reply = await call({ method: 'GET', url: '/v1/bug/1' });
    expect(reply.body).not.toMatch(/hunter2|alice|stack/);
    const line = app
      .logged()
      .split('\n')
      .find((text) => text.includes(reply.json().event_id) && text.includes('"err"'));
    expect(line).toContain('internal_error');
    expect(line).not.toContain('alice@example.com');
  });

  test('an unsupported method, with the supported ones in Allow', async () => {
    const reply = await call({ method: 'DELETE', url: '/v1/things' });
    expect(String(reply.headers.allow).split(', ').sort()).toEqual(['GET', 'HEAD', 'POST']);
  });

  test('bytes that are not HTTP, on the raw socket', async () => {
    await app.app.listen({ host: '127.0.0.1', port: 0 });
    const { port } = app.app.server.address() as { port: number };
    const answer = await new Promise<string>((resolve) => {
      let text = '';
      const socket = connect(port, '127.0.0.1', () => socket.write('NONSENSE\r\n\r\n'));
      socket
        .on('data', (data) => {
          text += data;
        })
        .on('close', () => resolve(text));
    });
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).toMatchObject({
      type: 'api_error',
      code: 'malformed_request',
    });
  });
});

describe('requests', () => {
  test('reports unknown, missing and invalid fields together', async () => {
    const reply = await post({ nam: 'x', amount: '01', wallet: '0x12', chain: 'dogecoin', loud: 'yes' });
    expect(reply.statusCode).toBe(422);
    expect(Object.keys(reply.json().errors).sort()).toEqual([
      'amount',
      'chain',
      'loud',
      'nam',
      'name',
      'wallet',
    ]);
    expect(reply.json().errors.nam).toEqual(['is not a known field']);
    expect(reply.json().errors.name).toEqual(['is required']);
  });

  test.each([
    '-1',
    '1.0',
    '1e3',
    '+1',
    '007',
    '',
    ' 1',
    '115792089237316195423570985008687907853269984665640564039457584007913129639936',
  ])('rejects %j as a uint256', async (amount) => {
    expect((await post({ name: 'x', amount })).json().errors).toHaveProperty('amount');
  });

  test('JSON values are not coerced, form values are', async () => {
    expect((await post({ name: 7 })).json().errors).toEqual({ name: ['must be string'] });
    const form = (payload: string) =>
      call({
        method: 'POST',
        url: '/v1/things',
        payload,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      });
    expect((await form('name=formed&loud=true')).statusCode).toBe(200);
    expect((await form('name=formed&loud=perhaps')).json().errors).toHaveProperty('loud');
    expect((await form('nome=formed')).json().errors).toHaveProperty('nome');
  });

  test('a missing body counts as an empty object', async () => {
    const reply = await call({ method: 'POST', url: '/v1/things' });
    expect(reply.json().errors).toEqual({ name: ['is required'] });
  });

  test('removes undeclared fields from replies', async () => {
    expect((await post({ name: 'shown' })).json()).not.toHaveProperty('secret');
  });

  test('keeps a well-formed request id and replaces any other', async () => {
    expect(
      (await call({ url: '/v1/things', headers: { 'x-request-id': 'abc.123' } })).headers['x-request-id'],
    ).toBe('abc.123');
    for (const bad of ['x'.repeat(200), 'a b', '"}{"', 'ü']) {
      const id = (await call({ url: '/v1/things', headers: { 'x-request-id': bad } })).headers[
        'x-request-id'
      ];
      expect(id).toMatch(/^[0-9a-f-]{36}$/);
    }
  });
});

describe('access', () => {
  test.each([
    [undefined, /^Bearer realm="causeway"$/],
    ['Basic abc', /invalid_request/],
    ['Bearer', /invalid_request/],
    ['Bearer unknown', /invalid_token/],
  ])('authorization %j gives 401 with a challenge', async (authorization, challenge) => {
    const reply = await app.app.inject({
      url: '/v1/things',
      headers: authorization === undefined ? {} : { authorization },
    });
    expect([reply.statusCode, reply.json().code]).toEqual([401, 'unauthorized']);
    expect(reply.headers['www-authenticate']).toMatch(challenge);
  });

  test('a missing scope gives 403 and is named', async () => {
    const reply = await call({
      url: '/v1/things',
      token: await app.tokenFor({ scopes: new Set(['wallets:read']) }),
    });
    expect([reply.statusCode, reply.json().code, reply.json().errors]).toEqual([
      403,
      'insufficient_scope',
      { scope: ['offers:read'] },
    ]);
  });

  test('a partner token is rejected on a user route', async () => {
    const reply = await call({
      method: 'POST',
      url: '/v1/things',
      payload: { name: 'x' },
      token: await app.tokenFor({ userId: null }),
    });
    expect([reply.statusCode, reply.json().code]).toEqual([403, 'user_token_required']);
  });

  test('the service does not start with a route that lacks an access declaration', async () => {
    const [route] = thingRoutes;
    await expect(testApp({ routes: [{ ...route, access: undefined } as never] })).rejects.toThrow(
      /GET \/v1\/things does not declare/,
    );
  });
});

describe('replies', () => {
  test('the ETag changes with the content and gives 304 if it matches', async () => {
    const first = await call({ url: '/v1/things' });
    const etag = String(first.headers.etag);
    expect(etag).toMatch(/^"[\w-]+"$/);
    for (const header of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
      const again = await call({ url: '/v1/things', headers: { 'if-none-match': header } });
      expect([again.statusCode, again.body, again.headers.etag]).toEqual([304, '', etag]);
      const head = await call({ method: 'HEAD', url: '/v1/things', headers: { 'if-none-match': header } });
      expect([head.statusCode, head.headers.etag]).toEqual([304, etag]);
    }
    await post({ name: 'new' });
    const changed = await call({ url: '/v1/things', headers: { 'if-none-match': etag } });
    expect(changed.statusCode).toBe(200);
    expect(changed.headers.etag).not.toBe(etag);
  });

  test('replies for one user are not cacheable', async () => {
    expect((await post({ name: 'x' })).headers['cache-control']).toBe('no-store');
  });

  test("CORS allows only the partner's own origins", async () => {
    const other = await app.tokenFor({ clientId: 'partner-two', origins: new Set(['https://two.test']) });
    const allow = async (origin: string, as: string) =>
      (await call({ url: '/v1/things', token: as, headers: { origin } })).headers[
        'access-control-allow-origin'
      ];
    expect(await allow('https://app.partner.test', token)).toBe('https://app.partner.test');
    expect(await allow('https://app.partner.test', other)).toBeUndefined();
    expect(await allow('https://evil.test', token)).toBeUndefined();
  });

  test('a preflight allows only registered origins and never credentials', async () => {
    const preflight = (origin: string) =>
      app.app.inject({
        method: 'OPTIONS',
        url: '/v1/things',
        headers: { origin, 'access-control-request-method': 'POST' },
      });
    const allowed = await preflight('https://app.partner.test');
    expect(allowed.statusCode).toBe(204);
    expect(allowed.headers['access-control-allow-headers']).toContain('Authorization');
    expect(allowed.headers).not.toHaveProperty('access-control-allow-credentials');
    expect((await preflight('https://evil.test')).headers).not.toHaveProperty('access-control-allow-origin');
  });
});

test('a request is logged as one line with route, caller and status, without token and path', async () => {
  await call({ url: '/v1/things?starting_after=private', headers: { 'x-request-id': 'logged-1' } });
  const line = JSON.parse(
    app
      .logged()
      .split('\n')
      .find((text) => text.includes('logged-1')) ?? '{}',
  );
  expect(line).toMatchObject({
    msg: 'request',
    method: 'GET',
    route: '/v1/things',
    status: 422,
    client_id: 'partner-one',
  });
  expect(JSON.stringify(line)).not.toMatch(/private|token-/);
});

test('request durations are measured per route and status class', async () => {
  const text = await app.ctx.metrics.registry.metrics();
  expect(text).toMatch(
    /causeway_http_request_duration_seconds_count\{method="GET",route="\/v1\/things",status="2xx"\} \d+/,
  );
  expect(text).toContain('causeway_nodejs_eventloop_lag_seconds');
});
