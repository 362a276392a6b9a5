import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestApp, testApp } from './support/app.ts';
import { createThings, thingRoutes } from './support/things.ts';

const RUNS = 10_000;
const ALLOWED_STATUSES = [400, 401, 403, 404, 405, 409, 413, 415, 422];

let app: TestApp;
let token: string;
beforeAll(async () => {
  app = await testApp({ routes: thingRoutes.filter(({ operationId }) => operationId !== 'bug') });
  await createThings(app.ctx);
  token = await app.tokenFor({});
  await app.app.listen({ host: '127.0.0.1', port: 0 });
  port = (app.app.server.address() as { port: number }).port;
});
afterAll(() => app.close());

const agent = new Agent({ keepAlive: true, maxSockets: 8 });
let port: number;

/** Sends the path unchanged, without normalization by a URL parser. */
function send(method: string, path: string, headers: Record<string, string>, body?: Buffer) {
  return new Promise<{ statusCode: number; headers: IncomingHttpHeaders; text: string }>(
    (resolve, reject) => {
      // For some methods, a body without a content length would look to the server like the next request.
      if (body !== undefined) headers['content-length'] = String(body.length);
      const sent = httpRequest(
        { host: '127.0.0.1', port, method, path, headers, agent, timeout: 10_000 },
        (reply) => {
          const chunks: Buffer[] = [];
          reply.on('data', (chunk) => chunks.push(chunk));
          reply.on('end', () =>
            resolve({
              statusCode: reply.statusCode ?? 0,
              headers: reply.headers,
              text: Buffer.concat(chunks).toString(),
            }),
          );
        },
      );
      sent
        .on('timeout', () => sent.destroy(new Error('no response')))
        .on('error', reject)
        .end(body);
    },
  );
}

const anyText = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('', '%', '%00', '%zz', '%ff', '\u0000', '🂡', '__proto__', '9'.repeat(400)),
);
const name = fc.oneof(
  fc.constantFrom(
    'limit',
    'starting_after',
    'starting_before',
    'filters',
    'filters[0][field]',
    'filters[0][op]',
    'filters[0][value]',
    'filters[]',
    'filters[0',
    '__proto__',
    'constructor',
  ),
  anyText,
);
const value = fc.oneof(fc.constantFrom('1', '0', '101', '==', 'in', 'name', 'a,b'), anyText);
const rawQuery = fc
  .array(fc.tuple(name, value, fc.boolean()), { maxLength: 6 })
  .map((pairs) =>
    pairs
      .map(([n, v, isEncoded]) =>
        isEncoded ? `${encode(n)}=${encode(v)}` : `${printable(n)}=${printable(v)}`,
      )
      .join('&'),
  );
const path = fc.oneof(
  fc.constantFrom('/v1/things', '/v1/json-only', '/v1/things/', '//v1/things', '/v1/things/x', '/'),
  anyText.map((text) => `/${printable(text)}`),
);
const member = fc.oneof(
  fc.constantFrom('name', 'amount', 'wallet', 'chain', 'loud', '__proto__', 'toString'),
  fc.string(),
);
const jsonText = fc.oneof(
  fc.record({ name: anyText }).map((body) => JSON.stringify(body)),
  fc.dictionary(member, fc.jsonValue(), { maxKeys: 5 }).map((body) => JSON.stringify(body)),
  fc
    .array(fc.tuple(member, fc.jsonValue()), { maxLength: 4 })
    .map((pairs) => `{${pairs.map(([n, v]) => `${JSON.stringify(n)}:${JSON.stringify(v)}`).join(',')}}`),
  fc.jsonValue().map((body) => JSON.stringify(body)),
  fc.nat({ max: 5000 }).map((depth) => '[{"name":'.repeat(depth)),
  fc.nat({ max: 5000 }).map((depth) => `${'['.repeat(depth)}${']'.repeat(depth)}`),
);
const body = fc.oneof(
  jsonText.map((text) => Buffer.from(text)),
  fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
  fc
    .tuple(jsonText, fc.uint8Array({ maxLength: 3 }))
    .map(([text, bytes]) => Buffer.concat([Buffer.from(text), Buffer.from(bytes)])),
  rawQuery.map((text) => Buffer.from(text)),
  fc.constantFrom(Buffer.alloc(0), Buffer.alloc(70_000, 'x')),
);
const headerText = fc.string({ unit: fc.constantFrom(...'abcXYZ0189-_.:;,/*="()W \t'), maxLength: 40 });
const wild = fc.record({
  method: fc.constantFrom('GET', 'POST', 'DELETE', 'PUT', 'PATCH', 'HEAD', 'OPTIONS'),
  path,
  query: rawQuery,
  body: fc.option(body, { nil: undefined }),
  type: fc.oneof(
    fc.constantFrom(
      'application/json',
      'application/x-www-form-urlencoded',
      'application/json; charset=latin1',
      'text/plain',
      'APPLICATION/JSON',
      '',
    ),
    headerText,
  ),
  authorization: fc.oneof({ weight: 8, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: headerText }),
  extra: fc.dictionary(
    fc.constantFrom(
      'idempotency-key',
      'if-none-match',
      'x-request-id',
      'origin',
      'accept',
      'content-encoding',
    ),
    headerText,
    { maxKeys: 3 },
  ),
});

/** Almost valid requests, which get past the first checks. */
const nearlyValid = fc.record({
  method: fc.constantFrom('GET', 'POST'),
  path: fc.constant('/v1/things'),
  query: fc.oneof(fc.constant(''), rawQuery),
  body: fc
    .record(
      { name: fc.oneof(fc.constant('valid'), anyText), loud: fc.oneof(fc.boolean(), fc.jsonValue()) },
      { requiredKeys: ['name'] },
    )
    .map((value) => Buffer.from(JSON.stringify(value))),
  type: fc.constant('application/json'),
  authorization: fc.constant(null),
  extra: fc.dictionary(fc.constantFrom('idempotency-key', 'if-none-match'), headerText, { maxKeys: 1 }),
});
const request = fc.oneof({ weight: 3, arbitrary: wild }, { weight: 1, arbitrary: nearlyValid });

test(`${RUNS} generated requests get a success or a documented error, never a 500 or a timeout`, async () => {
  let rejected = 0;
  await fc.assert(
    fc.asyncProperty(request, async ({ method, path, query, body, type, authorization, extra }) => {
      const headers: Record<string, string> = { ...extra, authorization: authorization ?? `Bearer ${token}` };
      if (type.trim() !== '') headers['content-type'] = type;
      const reply = await send(
        method,
        `${path}?${query}`,
        headers,
        method === 'GET' || method === 'HEAD' ? undefined : body,
      );
      if (reply.statusCode < 400) return;
      rejected++;
      expect(ALLOWED_STATUSES).toContain(reply.statusCode);
      if (method === 'HEAD') return;
      expect(JSON.parse(reply.text)).toMatchObject({
        type: 'api_error',
        code: expect.stringMatching(/^[a-z_]+$/),
        errors: expect.any(Object),
        event_id: reply.headers['x-request-id'],
      });
    }),
    { numRuns: RUNS },
  );
  // The generator must produce both rejected and accepted requests, or the test proves nothing.
  expect(rejected).toBeGreaterThan(RUNS / 10);
  const { rows } = await sql<{ n: number }>`select count(*)::int as n from things`.execute(app.ctx.db);
  expect(rows[0]?.n).toBeGreaterThan(0);
  expect(app.logged()).not.toContain('internal_error');
}, 180_000);

test('the server answers or closes connections with bytes that are not HTTP, and keeps serving', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        fc.uint8Array({ minLength: 1, maxLength: 200 }),
        headerText.map((text) => Buffer.from(`GET /v1/things HTTP/1.1\r\n${text}\r\n\r\n`)),
      ),
      async (bytes) => {
        await new Promise<void>((resolve) => {
          const socket = connect(port, '127.0.0.1', () => socket.end(Buffer.from(bytes)));
          socket
            .on('error', () => resolve())
            .on('close', () => resolve())
            .resume();
        });
      },
    ),
    { numRuns: 300 },
  );
  expect(
    (await fetch(`http://127.0.0.1:${port}/v1/things`, { headers: { authorization: `Bearer ${token}` } }))
      .status,
  ).toBe(200);
});

function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

/** Keeps the characters that are allowed in a request line. */
function printable(text: string): string {
  return text.replace(/[^\x21-\x7e]|[?#]/g, '');
}
