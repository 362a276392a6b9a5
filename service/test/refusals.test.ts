import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { prepareDrain } from '../src/platform/http/drain.ts';
import { createTestDatabase, type TestDatabase } from './setup/database.ts';
import { type TestApp, testApp } from './support/app.ts';
import { makeClient } from './support/tokens.ts';

const ORIGIN = 'https://shop.partner.test';

let node: TestApp;
let database: TestDatabase;
let token: string;
/** The number of requests that Node's parser has read. */
let parsed = 0;
let endSlowRequest: () => void = () => undefined;
let drain: () => Promise<void>;
let relax: () => Promise<void> = async () => undefined;

beforeAll(async () => {
  database = await createTestDatabase();
  node = await testApp({
    ...{ databaseUrl: database.url, listen: true },
    config: { databasePool: 2, maxPoolWaitMs: 1_000 },
    plugins: [
      () => (server) =>
        void server.get('/slow', { config: { access: { who: 'public' } } }, async () => {
          await new Promise<void>((resolve) => (endSlowRequest = resolve));
          return {};
        }),
    ],
  });
  await makeClient(node.ctx, { clientId: 'shop', origins: [ORIGIN] });
  token = await node.tokenFor();
  drain = prepareDrain(node.app, node.ctx.readiness.drain);
  node.app.server.on('request', () => parsed++);
});
afterEach(() => relax());
afterAll(async () => {
  await node.close();
  await database.drop();
});

/** Saturates the node: no statement gets a database connection until `relax` is called. */
async function saturate(): Promise<void> {
  const { pool } = node.ctx;
  const held = [await pool.connect(), await pool.connect()];
  let isHeld = true;
  const waiting = Array.from({ length: 20 }, async () => {
    while (isHeld) await pool.query('select 1').catch(() => undefined);
  });
  relax = async () => {
    relax = async () => undefined;
    isHeld = false;
    for (const client of held) client.release();
    await Promise.all(waiting);
    await expect.poll(() => node.ctx.overload.isSaturated()).toBe(false);
  };
  await expect.poll(() => node.ctx.overload.isSaturated()).toBe(true);
}

type Reply = { status: number; head: Record<string, string>; body: string };

/** Opens a connection that sends bytes unchanged. Every `send` arrives as a separate chunk. */
async function openConnection() {
  const accepted = once(node.app.server, 'connection') as Promise<[Socket]>;
  const socket = connect(Number(new URL(node.ctx.baseUrl).port), '127.0.0.1').setNoDelay();
  const [server] = await accepted;
  let received = '';
  let sent = 0;
  socket.on('data', (chunk) => (received += chunk.toString('latin1'))).on('error', () => undefined);
  const replies = () => readReplies(received);
  const send = async (bytes: string) => {
    socket.write(bytes, 'latin1');
    sent += bytes.length;
    await expect.poll(() => server.bytesRead, { interval: 2 }).toBe(sent);
  };
  /** Sends a request and returns its reply, which must be the only one. */
  const ask = async (bytes: string): Promise<Reply> => {
    const before = replies().length;
    await send(bytes);
    await expect.poll(() => replies().length, { interval: 2 }).toBe(before + 1);
    return replies()[before] as Reply;
  };
  return { socket, server, send, ask, replies };
}

/** Opens a connection on which two requests are refused. After that, refusals on that connection bypass the parser. */
async function openRefused() {
  const connection = await openConnection();
  for (let i = 0; i < 2; i++) expect((await connection.ask(get('/v1/offers'))).status).toBe(503);
  return connection;
}

function readReplies(text: string): Reply[] {
  const replies: Reply[] = [];
  for (let rest = text; rest !== ''; ) {
    const end = rest.indexOf('\r\n\r\n');
    const [first = '', ...lines] = rest.slice(0, end).split('\r\n');
    const head = Object.fromEntries(
      lines.map((line) => [line.split(': ', 1)[0]?.toLowerCase(), line.slice(line.indexOf(': ') + 2)]),
    );
    const bodyEnd = end + 4 + Number(head['content-length'] ?? 0);
    if (end < 0 || rest.length < bodyEnd) break;
    replies.push({ status: Number(first.slice(9, 12)), head, body: rest.slice(end + 4, bodyEnd) });
    rest = rest.slice(bodyEnd);
  }
  return replies;
}

const get = (path: string, headers = '') => `GET ${path} HTTP/1.1\r\nhost: x\r\n${headers}\r\n`;
const post = (path: string, headers: string, body: string) =>
  `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n${headers}content-length: ${body.length}\r\n\r\n${body}`;
const id = (value: string) => `x-request-id: ${value}\r\n`;
const ids = (replies: Reply[]) => replies.map(({ head }) => head['x-request-id']);

describe('a connection whose requests are refused', () => {
  test('gets the same reply and log line whether or not the request was parsed', async () => {
    await saturate();
    const connection = await openConnection();
    const request = post('/oauth/introspect', `${id('shed-1')}Origin: ${ORIGIN}\r\n`, '{"token":"x"}');
    const first = await connection.ask(request);
    await connection.ask(request);
    const before = parsed;
    const unparsed = await connection.ask(request);
    expect(parsed).toBe(before);
    const { date: _date, ...head } = first.head;
    expect(unparsed).toEqual({ ...first, head });
    expect(unparsed).toMatchObject({ status: 503, head: { 'x-request-id': 'shed-1', 'retry-after': '1' } });
    expect(JSON.parse(unparsed.body)).toMatchObject({ code: 'unavailable', event_id: 'shed-1' });
    expect(node.logged().match(/"request_id":"shed-1".*"status":503/g)).toHaveLength(3);
    const other = await connection.ask(
      get('/v1/offers', 'x-request-id: not "safe"\r\norigin: https://evil.test\r\n'),
    );
    expect(parsed).toBe(before);
    expect(other.head['access-control-allow-origin']).toBeUndefined();
    expect(JSON.parse(other.body)).not.toHaveProperty('error');
    expect(JSON.parse(other.body).event_id).toBe(other.head['x-request-id']);
    expect(other.head['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('gets answers to probes while the node is saturated, and to everything once it has recovered', async () => {
    await saturate();
    const connection = await openRefused();
    expect((await connection.ask(get('/health'))).status).toBe(200);
    expect((await connection.ask(get('/v1/offers'))).status).toBe(503);
    await relax();
    expect((await connection.ask(get('/v1/offers', `authorization: Bearer ${token}\r\n`))).status).toBe(200);
  });

  test('has changed nothing with a refused request', async () => {
    await saturate();
    const connection = await openRefused();
    const headers = `authorization: Bearer ${token}\r\nidempotency-key: refused-once\r\n`;
    const body = JSON.stringify({ wallet_address: `0x${'1'.repeat(40)}`, chain: 'ethereum_sepolia' });
    const create = post('/v1/wallet-ownership', headers, body);
    const before = parsed;
    expect((await connection.ask(create)).status).toBe(503);
    expect(parsed).toBe(before);
    await relax();
    const created = await connection.ask(create);
    expect([created.status, created.head['idempotent-replayed']]).toEqual([200, undefined]);
  });

  test('is closed after the reply if the client asks for it', async () => {
    await saturate();
    const { socket, send, replies } = await openRefused();
    const closed = once(socket, 'close');
    await send(get('/v1/offers', 'connection: close\r\n'));
    await closed;
    expect(replies().at(-1)).toMatchObject({ status: 503, head: { connection: 'close' } });
  });

  test('gets no body in reply to HEAD', async () => {
    await saturate();
    const { socket, send, replies } = await openRefused();
    let received = '';
    socket.on('data', (chunk) => (received += chunk.toString('latin1')));
    await send(get('/v1/offers', id('head')).replace('GET', 'HEAD'));
    await expect.poll(() => received).toMatch(/x-request-id: head/i);
    expect(received).toMatch(/\r\n\r\n$/);
    expect(replies().length).toBeGreaterThan(0);
  });

  test('gets no further unparsed refusal until the client has read the last one', async () => {
    await saturate();
    const { server, send, replies } = await openRefused();
    const before = parsed;
    // Acts like a client that does not read.
    server.cork();
    await send(get('/v1/offers', id('one')));
    await send(get('/v1/offers', id('two')));
    expect(parsed).toBe(before + 1);
    server.uncork();
    await expect.poll(() => ids(replies()).slice(2)).toEqual(['one', 'two']);
  });
});

describe('bytes of one request are never taken for another one', () => {
  const inner = get('/v1/offers', id('inner'));

  test('two requests in one chunk', async () => {
    await saturate();
    const { send, replies } = await openRefused();
    await send(get('/v1/offers', id('one')) + get('/v1/offers', id('two')));
    await send(get('/v1/offers', id('three')));
    await expect.poll(() => ids(replies()).slice(2)).toEqual(['one', 'two', 'three']);
  });

  test.each([
    ['a header value', 'x-a: '],
    ['the headers', 'x-a: b\r\n'],
  ])('a request that begins inside %s', async (_name, start) => {
    await saturate();
    const { send, replies } = await openRefused();
    await send(`GET /v1/offers HTTP/1.1\r\nhost: x\r\n${id('outer')}${start}`);
    await send(inner);
    await expect.poll(() => replies().length).toBe(3);
    expect(ids(replies())).not.toContain('inner');
  });

  test('a body that looks like a request', async () => {
    await saturate();
    const { send, ask, replies } = await openRefused();
    await send(post('/oauth/introspect', id('outer'), inner).slice(0, -inner.length));
    await send(inner);
    await ask(get('/health', id('end')));
    expect(ids(replies()).slice(2)).toEqual(['outer', 'end']);
  });

  test('a body that waits for a request that is inside a chunk which looks like a whole request', async () => {
    await saturate();
    const { send, ask, replies } = await openRefused();
    const waiting = post('/oauth/introspect', id('waiting'), inner).slice(0, -inner.length);
    const chunk = post('/oauth/introspect', id('chunk'), waiting);
    // The parser takes everything before `waiting` as the body of the request `outer`.
    const beginning = 'x'.repeat(chunk.length - waiting.length);
    await send(post('/oauth/introspect', id('outer'), beginning).slice(0, -beginning.length));
    await send(chunk);
    await expect.poll(() => ids(replies()).slice(2)).toEqual(['outer', 'waiting']);
    await send(inner);
    await ask(get('/health', id('end')));
    expect(ids(replies()).slice(2)).toEqual(['outer', 'waiting', 'end']);
  });

  test('chunks that look like requests', async () => {
    await saturate();
    const { send, ask, replies } = await openRefused();
    const head = `POST /oauth/introspect HTTP/1.1\r\nhost: x\r\n${id('outer')}transfer-encoding: chunked\r\n\r\n`;
    await send(`${head}${inner.length.toString(16)}\r\n`);
    await send(inner);
    await send('\r\n0\r\n\r\n');
    await ask(get('/health', id('end')));
    expect(ids(replies()).slice(2)).toEqual(['outer', 'end']);
  });

  test.each([
    ['before the first refusal', openConnection, 1],
    ['after some refusals', openRefused, 3],
  ])('a request of which the parser read the beginning %s', async (_name, open, count) => {
    await saturate();
    const { send, ask, replies } = await open();
    const start = `GET /v1/offers HTTP/1.1\r\nhost: x\r\n${id('outer')}content-length: ${inner.length}\r\nx-a: `;
    await send(get('/v1/offers', id('one')) + start);
    await expect.poll(() => replies().length).toBe(count);
    // The first `inner` ends the headers, and the second is the body.
    await send(inner);
    await send(inner);
    await ask(get('/v1/offers', id('end')));
    expect(ids(replies()).slice(count - 1)).toEqual(['one', 'outer', 'end']);
  });

  test('a method that ends like another one', async () => {
    await saturate();
    const { send, ask, replies } = await openConnection();
    await send(`${get('/v1/offers', id('one'))}PROP`);
    await expect.poll(() => replies().length).toBe(1);
    const rest = get('/v1/offers', id('two')).replace('GET', 'PATCH');
    await ask(rest);
    const before = parsed;
    await ask(rest);
    expect(parsed).toBe(before + 1);
  });

  test('a refusal does not overtake the reply to an earlier request', async () => {
    await saturate();
    const { send, replies } = await openRefused();
    await relax();
    await send(get('/slow'));
    await saturate();
    await send(get('/v1/offers', id('behind')));
    await send(get('/v1/offers', id('last')));
    expect(replies()).toHaveLength(2);
    endSlowRequest();
    await expect.poll(() => ids(replies()).slice(2)).toEqual([undefined, 'behind', 'last']);
    expect(replies()[2]).toMatchObject({ status: 200, body: '{}' });
  });
});

test('a node that drains closes the connections whose requests it refuses', async () => {
  await saturate();
  const { socket, send, replies } = await openRefused();
  const closed = once(socket, 'close');
  const draining = drain();
  await send(get('/v1/offers', id('last')));
  await closed;
  expect(replies().at(-1)).toMatchObject({
    status: 503,
    head: { connection: 'close', 'x-request-id': 'last' },
  });
  await draining;
});
