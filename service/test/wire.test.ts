import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FORMATS } from '../src/kernel/wire.ts';
import { type TestApp, testApp } from './support/app.ts';
import { createThings, gate, insertThing, thingRoutes } from './support/things.ts';

const ORIGIN = 'https://app.partner.test';
let one: TestApp;
let token: string;
let port: number;
beforeAll(async () => {
  one = await testApp({ routes: thingRoutes, listen: true });
  await createThings(one.ctx);
  token = await one.tokenFor({ origins: new Set([ORIGIN]) });
  for (const name of ['a', 'b', 'c']) await insertThing(one.ctx, one.ctx.db, name);
  port = (one.app.server.address() as { port: number }).port;
});
afterAll(() => one.close());

const get = (url: string, headers: Record<string, string> = {}) =>
  one.app.inject({ url, headers: { authorization: `Bearer ${token}`, ...headers } });

/** Sends bytes on a socket and returns the status, the head and the parsed body of the reply. */
async function raw(
  ...chunks: string[]
): Promise<{ status: number; body: Record<string, unknown>; head: string }> {
  const text = await new Promise<string>((resolve, reject) => {
    let received = '';
    const socket = connect(port, '127.0.0.1', () => {
      for (const chunk of chunks) socket.write(chunk);
    });
    socket
      .on('data', (data) => {
        received += data;
        const [head = '', body = ''] = received.split('\r\n\r\n');
        const length = /content-length: (\d+)/i.exec(head)?.[1];
        if (length !== undefined && body.length >= Number(length)) socket.destroy();
      })
      .on('error', reject)
      .on('close', () => resolve(received));
  });
  const [head = '', body = ''] = text.split('\r\n\r\n');
  return { status: Number(head.split(' ')[1]), body: body === '' ? {} : JSON.parse(body), head };
}

const lines = (...parts: string[]) => [...parts, '', ''].join('\r\n');

describe('cursors', () => {
  test.each(['starting_after=', 'starting_before=', 'starting_after=&starting_before='])(
    'an empty cursor counts as absent: %s',
    async (query) => {
      const reply = await get(`/v1/things?${query}`);
      expect(reply.statusCode).toBe(200);
      expect(reply.json().data).toHaveLength(3);
      expect(reply.json()).not.toHaveProperty('starting_before');
    },
  );

  test('an empty cursor beside a real one is ignored', async () => {
    const first = (await get('/v1/things?limit=1')).json();
    const reply = await get(`/v1/things?limit=1&starting_before=&starting_after=${first.starting_after}`);
    expect([reply.statusCode, reply.json().data[0]?.name]).toEqual([200, 'b']);
  });
});

describe('numbers in a query', () => {
  test.each(['1e1', '%205', '5%20', '+5', '0x5', '5.0', '5.', '٥', 'Infinity', 'true', ''])(
    'limit=%s is not an integer in digits',
    async (limit) => {
      const reply = await get(`/v1/things?limit=${limit}`);
      expect([reply.statusCode, reply.json().code]).toEqual([422, 'validation_failed']);
      expect(reply.json().errors.limit).toEqual(['must be integer']);
    },
  );

  test.each(['0', '-1', '101', '999999999999999'])('limit=%s is out of range', async (limit) => {
    const reply = await get(`/v1/things?limit=${limit}`);
    expect([reply.statusCode, Object.keys(reply.json().errors)]).toEqual([422, ['limit']]);
  });

  test('a repeated limit is refused', async () => {
    expect((await get('/v1/things?limit=1&limit=2')).json().code).toBe('validation_failed');
  });
});

describe('date-times', () => {
  test.each([
    ...['1', '2026', '2026-01-02', '2026-01-02T03:04:05', 'January 2, 2026', '2026-02-30T00:00:00Z'],
    ...['2026-13-01T00:00:00Z', '2026-01-02T03:04:05.1234567890Z', '2026-01-02T03:04:05+1'],
  ])('%s is no date-time', (text) => {
    expect(FORMATS['date-time']?.test(text)).toBe(false);
  });

  test.each(['2026-01-02T03:04Z', '2026-01-02T03:04:05.678901Z', '2024-02-29T23:59:59+02:00'])(
    '%s is one',
    (text) => {
      expect(FORMATS['date-time']?.test(text)).toBe(true);
    },
  );
});

describe('paths', () => {
  test('a trailing slash is accepted, with a query too', async () => {
    expect((await get('/v1/things/')).statusCode).toBe(200);
    expect((await get('/v1/things/?limit=1')).json().data).toHaveLength(1);
    const wrong = await one.app.inject({ method: 'DELETE', url: '/v1/things/' });
    expect([wrong.statusCode, wrong.json().code]).toEqual([405, 'method_not_allowed']);
    expect((await get('/v1/things//')).statusCode).toBe(404);
  });

  test.each([
    ['PATCH', '/v1/things', 405, 'method_not_allowed'],
    ['POST', '/oauth/authorize', 405, 'method_not_allowed'],
    ['POST', '/v1/nothing', 404, 'not_found'],
  ] as const)('%s %s is answered before its body is read', async (method, url, status, code) => {
    for (const [type, payload] of [
      ['application/json', '{'],
      ['text/xml', '<x/>'],
      ['application/x-www-form-urlencoded', 'a=1'],
      ['application/json', JSON.stringify('x'.repeat(70_000))],
    ] as const) {
      const reply = await one.app.inject({ method, url, payload, headers: { 'content-type': type } });
      expect([reply.statusCode, reply.json().code]).toEqual([status, code]);
    }
  });

  test('the path with and without the slash is the same request to an idempotency key', async () => {
    const post = (url: string) =>
      one.app.inject({
        method: 'POST',
        url,
        payload: { name: 'once' },
        headers: { authorization: `Bearer ${token}`, 'idempotency-key': 'slash' },
      });
    gate.hold = Promise.resolve();
    const first = await post('/v1/things');
    const again = await post('/v1/things/');
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect(again.json()).toEqual(first.json());
  });

  test.each(['/oauth/jwks/', '/.well-known/openid-configuration/'])('%s is accepted', async (url) => {
    expect((await one.app.inject(url)).statusCode).toBe(200);
  });

  test('the token endpoint accepts a trailing slash', async () => {
    const reply = await one.app.inject({ method: 'POST', url: '/oauth/token/', payload: {} });
    expect([reply.statusCode, reply.json().error]).toEqual([401, 'invalid_client']);
  });
});

test.each(['null', '[]', '"x"', '7', 'false'])('the body %s is not an object', async (payload) => {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const reply = await one.app.inject({ method: 'POST', url: '/v1/things', payload, headers });
  expect([reply.statusCode, reply.json().errors]).toEqual([422, { body: ['must be object'] }]);
});

describe('sizes and encodings', () => {
  test.each(['/v1/things?x=', '/nowhere?x=', '/nowhere/', '/oauth/jwks?x='])(
    'a URL of more than 8 KiB is 414 on %s',
    async (path) => {
      const reply = await get(path + 'x'.repeat(8200));
      expect([reply.statusCode, reply.json().code]).toEqual([414, 'uri_too_long']);
    },
  );

  test('a URL that overflows the parser is 414 too', async () => {
    const reply = await raw(lines(`GET /v1/things?x=${'x'.repeat(40_000)} HTTP/1.1`, 'Host: a'));
    expect([reply.status, reply.body.code]).toEqual([414, 'uri_too_long']);
  });

  test('headers that overflow the parser are 413', async () => {
    const reply = await raw(lines('GET /v1/things HTTP/1.1', 'Host: a', `X-Long: ${'x'.repeat(40_000)}`));
    expect([reply.status, reply.body.code]).toEqual([413, 'payload_too_large']);
  });

  test.each(['gzip', 'br', 'identity, gzip', 'nonsense'])('content-encoding %s is 415', async (encoding) => {
    for (const url of ['/v1/things', '/oauth/token', '/oauth/introspect']) {
      const reply = await one.app.inject({
        method: 'POST',
        url,
        payload: '{}',
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          'content-encoding': encoding,
        },
      });
      expect([url, reply.statusCode, reply.json().code]).toEqual([url, 415, 'unsupported_media_type']);
    }
  });

  test('content-encoding identity is accepted', async () => {
    const reply = await one.app.inject({
      method: 'POST',
      url: '/v1/things',
      payload: { name: 'plain' },
      headers: { authorization: `Bearer ${token}`, 'content-encoding': 'Identity' },
    });
    expect(reply.statusCode).toBe(200);
  });
});

describe('what the parser refuses has the error object', () => {
  test.each([
    ['two Host headers', ['GET /v1/things HTTP/1.1', 'Host: a', 'Host: b']],
    ['the same Host twice', ['GET /v1/things HTTP/1.1', 'Host: a', 'Host: a']],
    ['no Host', ['GET /v1/things HTTP/1.1', 'X: y']],
    ['two Host headers on an unknown path', ['GET /nowhere HTTP/1.1', 'Host: a', 'Host: b']],
    ['two Host headers on an OAuth endpoint', ['GET /oauth/jwks HTTP/1.1', 'Host: a', 'Host: b']],
    ['an unknown expectation', ['GET /v1/things HTTP/1.1', 'Host: a', 'Expect: coffee']],
    [
      'a length and a transfer encoding',
      ['POST /v1/things HTTP/1.1', 'Host: a', 'Content-Length: 4', 'Transfer-Encoding: chunked'],
    ],
    ['two lengths', ['POST /v1/things HTTP/1.1', 'Host: a', 'Content-Length: 4', 'Content-Length: 5']],
    ['an unknown method', ['COFFEE /v1/things HTTP/1.1', 'Host: a']],
    ['a header without a name', ['GET /v1/things HTTP/1.1', 'Host: a', ': y']],
  ])('%s', async (_name, request) => {
    const { status, body, head } = await raw(lines(...request));
    expect([status, body.code]).toEqual([400, 'malformed_request']);
    expect(body).toMatchObject({
      message: expect.any(String),
      type: 'api_error',
      code: 'malformed_request',
      errors: {},
      event_id: /x-request-id: (\S+)/i.exec(head)?.[1],
    });
    expect(head).toMatch(/x-content-type-options: nosniff/i);
  });

  test('HTTP/1.0 needs no Host', async () => {
    const { status } = await raw(lines('GET /v1/things HTTP/1.0', `Authorization: Bearer ${token}`));
    expect(status).toBe(200);
  });

  test('CONNECT is refused with the error object', async () => {
    const { status, body } = await raw(lines('CONNECT example.com:443 HTTP/1.1', 'Host: example.com'));
    expect([status, body.code]).toEqual([405, 'method_not_allowed']);
  });
});

test('Vary names Authorization and Origin, with and without an origin', async () => {
  for (const headers of [{}, { origin: ORIGIN }, { origin: 'https://evil.test' }])
    for (const url of ['/v1/things', '/v1/things?limit=0', '/v1/nothing'])
      expect((await get(url, headers)).headers.vary).toBe('Authorization, Origin');
});
