import { connect } from 'node:net';
import type { InjectOptions } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type TestApp, testApp } from './support/app.ts';
import { createThings, thingRoutes } from './support/things.ts';

let one: TestApp;
let token: string;
beforeAll(async () => {
  one = await testApp({ routes: thingRoutes });
  await createThings(one.ctx);
  token = await one.tokenFor({ origins: new Set(['https://app.partner.test']) });
});
afterAll(() => one.close());

const call = (options: InjectOptions & { token?: string }) =>
  one.app.inject({
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

describe('every failure is the error object', () => {
  test.each<[string, InjectOptions, number, string]>([
    ['an unknown route', { method: 'GET', url: '/v1/nothing' }, 404, 'not_found'],
    ['a wrong method', { method: 'DELETE', url: '/v1/things' }, 405, 'method_not_allowed'],
    [
      'bad JSON',
      { method: 'POST', url: '/v1/things', payload: '{', headers: { 'content-type': 'application/json' } },
      400,
      'malformed_request',
    ],
    [
      'another content type',
      { method: 'POST', url: '/v1/things', payload: 'x', headers: { 'content-type': 'text/xml' } },
      415,
      'unsupported_media_type',
    ],
    [
      'a form where none is allowed',
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
      'a form that repeats a name',
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
      'a body that is too large',
      {
        method: 'POST',
        url: '/v1/things',
        payload: JSON.stringify({ name: 'x'.repeat(70_000) }),
        headers: { 'content-type': 'application/json' },
      },
      413,
      'payload_too_large',
    ],
    [
      'a URL that is too long',
      { method: 'GET', url: `/v1/things?x=${'x'.repeat(8200)}` },
      414,
      'uri_too_long',
    ],
    ['a query that cannot be decoded', { method: 'GET', url: '/v1/things?x=%zz' }, 400, 'malformed_request'],
    ['a path that cannot be decoded', { method: 'GET', url: '/v1/bug/%zz' }, 400, 'malformed_request'],
    ['a bug of ours', { method: 'GET', url: '/v1/bug/1' }, 500, 'internal_error'],
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

  test('a bug leaks nothing to the caller, and the log line is found by its event id without secrets', async () => {
    const reply = await call({ method: 'GET', url: '/v1/bug/1' });
    expect(reply.body).not.toMatch(/hunter2|alice|stack/);
    const line = one
      .logged()
      .split('\n')
      .find((text) => text.includes(reply.json().event_id) && text.includes('"err"'));
    expect(line).toContain('internal_error');
    expect(line).not.toContain('alice@example.com');
  });

  test('405 says which methods are allowed', async () => {
    const reply = await call({ method: 'DELETE', url: '/v1/things' });
    expect(String(reply.headers.allow).split(', ').sort()).toEqual(['GET', 'HEAD', 'POST']);
  });

  test('a request that is not HTTP gets it too, on the raw socket', async () => {
    await one.app.listen({ host: '127.0.0.1', port: 0 });
    const { port } = one.app.server.address() as { port: number };
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
  test('unknown, missing and wrong fields are all named at once', async () => {
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
  ])('amount %j is not a uint256', async (amount) => {
    expect((await post({ name: 'x', amount })).json().errors).toHaveProperty('amount');
  });

  test('numbers are not taken for strings in JSON, but booleans are read from forms', async () => {
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

  test('no body at all is an empty body', async () => {
    const reply = await call({ method: 'POST', url: '/v1/things' });
    expect(reply.json().errors).toEqual({ name: ['is required'] });
  });

  test('undeclared fields never leave', async () => {
    expect((await post({ name: 'shown' })).json()).not.toHaveProperty('secret');
  });

  test('a sane request id is kept, another one replaced', async () => {
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
  ])('authorization %j is 401 with a challenge', async (authorization, challenge) => {
    const reply = await one.app.inject({
      url: '/v1/things',
      headers: authorization === undefined ? {} : { authorization },
    });
    expect([reply.statusCode, reply.json().code]).toEqual([401, 'unauthorized']);
    expect(reply.headers['www-authenticate']).toMatch(challenge);
  });

  test('a scope that is missing is 403 and named', async () => {
    const reply = await call({
      url: '/v1/things',
      token: await one.tokenFor({ scopes: new Set(['wallets:read']) }),
    });
    expect([reply.statusCode, reply.json().code, reply.json().errors]).toEqual([
      403,
      'insufficient_scope',
      { scope: ['offers:read'] },
    ]);
  });

  test('a partner token is refused where a user is needed', async () => {
    const reply = await call({
      method: 'POST',
      url: '/v1/things',
      payload: { name: 'x' },
      token: await one.tokenFor({ userId: null }),
    });
    expect([reply.statusCode, reply.json().code]).toEqual([403, 'user_token_required']);
  });

  test('a route that does not say who may call it does not boot', async () => {
    const [route] = thingRoutes;
    await expect(testApp({ routes: [{ ...route, access: undefined } as never] })).rejects.toThrow(
      /GET \/v1\/things does not declare/,
    );
  });
});

describe('replies', () => {
  test('a strong ETag changes with the content and answers 304', async () => {
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

  test('what belongs to one user is not stored anywhere', async () => {
    expect((await post({ name: 'x' })).headers['cache-control']).toBe('no-store');
  });

  test("only the partner's own origins may read a reply", async () => {
    const other = await one.tokenFor({ clientId: 'partner-two', origins: new Set(['https://two.test']) });
    const allow = async (origin: string, as: string) =>
      (await call({ url: '/v1/things', token: as, headers: { origin } })).headers[
        'access-control-allow-origin'
      ];
    expect(await allow('https://app.partner.test', token)).toBe('https://app.partner.test');
    expect(await allow('https://app.partner.test', other)).toBeUndefined();
    expect(await allow('https://evil.test', token)).toBeUndefined();
  });

  test('a preflight is answered for registered origins alone, and never with credentials', async () => {
    const preflight = (origin: string) =>
      one.app.inject({
        method: 'OPTIONS',
        url: '/v1/things',
        headers: { origin, 'access-control-request-method': 'POST' },
      });
    const good = await preflight('https://app.partner.test');
    expect(good.statusCode).toBe(204);
    expect(good.headers['access-control-allow-headers']).toContain('Authorization');
    expect(good.headers).not.toHaveProperty('access-control-allow-credentials');
    expect((await preflight('https://evil.test')).headers).not.toHaveProperty('access-control-allow-origin');
  });
});

test('a request is one log line with its route, caller and time, and neither token nor path', async () => {
  await call({ url: '/v1/things?starting_after=private', headers: { 'x-request-id': 'logged-1' } });
  const line = JSON.parse(
    one
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

test('durations are counted per route and status class', async () => {
  const text = await one.ctx.metrics.render();
  expect(text).toMatch(
    /causeway_http_request_duration_seconds_count\{method="GET",route="\/v1\/things",status="2xx"\} \d+/,
  );
  expect(text).toContain('causeway_nodejs_eventloop_lag_seconds');
});
