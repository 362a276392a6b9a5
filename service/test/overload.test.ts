import { once } from 'node:events';
import { connect } from 'node:net';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { redactText } from '../src/kernel/log.ts';
import { prepareDrain } from '../src/platform/http/drain.ts';
import { createTestDatabase, type TestDatabase } from './setup/database.ts';
import { type TestApp, testApp, testConfig } from './support/app.ts';
import { makeClient, partnerOf } from './support/tokens.ts';

let database: TestDatabase;
let app: TestApp;
beforeAll(async () => {
  database = await createTestDatabase();
  app = await testApp({ databaseUrl: database.url });
});
afterAll(async () => {
  await app.close();
  await database.drop();
});

const introspect = (body: Record<string, unknown>) =>
  app.app.inject({ method: 'POST', url: '/oauth/introspect', payload: body });
const members = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`unknown_${i}`, i]));

describe('cost of hostile input', () => {
  test('a body with more than 500 members is refused with a short reply', async () => {
    const reply = await introspect({ token: 'x', ...members(500) });
    expect(reply.statusCode).toBe(400);
    expect(reply.json().code).toBe('malformed_request');
    expect(reply.body.length).toBeLessThan(1_000);
  });

  test('members of nested objects count too', async () => {
    const reply = await introspect({ token: { a: members(300), b: members(300) } });
    expect([reply.statusCode, reply.json().code]).toEqual([400, 'malformed_request']);
  });

  test('at most 20 problems of a body are reported', async () => {
    const reply = await introspect({ token: 'x', ...members(400) });
    expect([400, 422]).toContain(reply.statusCode);
    expect(Object.keys(reply.json().errors).length).toBeLessThanOrEqual(20);
  });

  test('requests with invalid bodies count towards the limit, which is checked before the body', async () => {
    const limits = { ...testConfig().limits, api: 2 };
    const small = await testApp({ databaseUrl: database.url, config: { limits } });
    const token = await small.tokenFor();
    const send = (payload: string) =>
      small.app.inject({
        ...{ method: 'POST', url: '/v1/wallet-ownership', payload },
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      });
    expect((await send(JSON.stringify(members(400)))).statusCode).toBe(422);
    expect((await send('{"wallet_address":')).statusCode).toBe(400);
    for (const body of ['{"wallet_address":', JSON.stringify(members(400)), '{}'])
      expect((await send(body)).json().code).toBe('rate_limited');
    await small.close();
  });

  test('a query of 200 pairs is read, one of 201 is refused', async () => {
    const query = (count: number) => Array.from({ length: count }, () => 'a=1').join('&');
    expect((await app.app.inject(`/health?${query(200)}`)).statusCode).toBe(200);
    const refused = await app.app.inject(`/health?${query(201)}`);
    expect([refused.statusCode, refused.json().code]).toEqual([400, 'malformed_request']);
  });

  test('email addresses are redacted wherever a word can begin', () => {
    const text = 'to:ada@user.test (bob@user.test) <eve@user.test>,mail=zoe@user.test';
    expect(redactText(text)).not.toMatch(/user\.test/);
    expect(redactText('x'.repeat(100_000))).toHaveLength(100_000);
  });
});

test('a lost database answers 503 unavailable with Retry-After, and the reply names no internals', async () => {
  const token = await app.tokenFor();
  await database.drop();
  for (let attempt = 0; attempt < 3; attempt++) {
    const reply = await app.app.inject({
      url: '/v1/participations',
      headers: { authorization: `Bearer ${token}` },
    });
    expect([reply.statusCode, reply.json().code]).toEqual([503, 'unavailable']);
    expect(reply.headers['retry-after']).toMatch(/^\d+$/);
    expect(reply.body).not.toMatch(/postgres|database|terminat/i);
  }
  for (const { accept, ...request } of OAUTH_REQUESTS) {
    const reply = await app.app.inject({ ...request, headers: { ...request.headers, accept } });
    expect([request.url, reply.statusCode]).toEqual([request.url, 503]);
    expect(reply.headers['retry-after']).toMatch(/^\d+$/);
    expect(reply.headers['x-request-id']).toBeTruthy();
    expect(reply.body).not.toMatch(/postgres|terminat/i);
    if (accept !== 'text/html')
      expect(reply.json()).toMatchObject({ error: 'temporarily_unavailable', code: 'unavailable' });
  }
});

const AUTHORIZE =
  '/oauth/authorize?response_type=code&client_id=another-one&redirect_uri=https://app.partner.test/callback';
const OAUTH_REQUESTS = [
  {
    ...{ method: 'POST', url: '/oauth/token', accept: '*/*' },
    headers: { authorization: `Basic ${Buffer.from('unknown-client:secret').toString('base64')}` },
    payload: { grant_type: 'client_credentials' },
  },
  { method: 'GET', url: AUTHORIZE, accept: 'application/json', headers: {} },
  { method: 'GET', url: AUTHORIZE, accept: 'text/html', headers: {} },
] as const;

test('log lines name the process, its version and the error code, and probes write none', async () => {
  const node = await testApp();
  await node.app.inject('/health');
  await node.app.inject('/v1/offers');
  const lines = node
    .logged()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines.filter((line) => line.route === '/health')).toEqual([]);
  expect(lines.find((line) => line.route === '/v1/offers')).toMatchObject({
    status: 401,
    error_code: 'unauthorized',
    instance: expect.stringMatching(/-\d+$/),
    version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
  });
  await node.close();
});

const ORIGIN = 'https://shop.partner.test';

describe('a saturated node', () => {
  let node: TestApp;
  let own: TestDatabase;
  let token: string;
  let drain: () => Promise<void>;
  beforeAll(async () => {
    own = await createTestDatabase();
    node = await testApp({
      ...{ databaseUrl: own.url, listen: true },
      config: { databasePool: 2, maxEventLoopLagMs: 100, maxPoolWaitMs: 1_000 },
    });
    await makeClient(node.ctx, { clientId: 'shop', origins: [ORIGIN] });
    token = await node.tokenFor();
    drain = prepareDrain(node.app, node.ctx.readiness.drain);
  });
  afterAll(async () => {
    await node.close();
    await own.drop();
  });
  const call = (path: string, init?: RequestInit) => fetch(node.ctx.baseUrl + path, init);
  const status = async (path: string, init?: RequestInit) => (await call(path, init)).status;
  const bearer = () => ({ headers: { authorization: `Bearer ${token}` } });

  /**
   * Keeps every connection to the database busy, and statements of the lane waiting, until the returned function is
   * called.
   */
  async function holdDatabase(lane: string): Promise<() => Promise<void>> {
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let holders = 0;
    const holding = Array.from({ length: 2 }, () =>
      node.ctx.db.transaction().execute(async () => {
        holders++;
        await held;
      }),
    );
    await expect.poll(() => holders).toBe(2);
    let isHeld = true;
    const { db } = node.ctx.laneOf(lane);
    const waiting = Array.from({ length: 20 }, async () => {
      // A statement that has waited for too long fails, and another one takes its place.
      while (isHeld) await sql`select 1`.execute(db).catch(() => undefined);
    });
    const relax = async () => {
      isHeld = false;
      release();
      await Promise.all([...holding, ...waiting]);
    };
    onTestFinished(relax);
    return async () => {
      await relax();
      await expect.poll(() => status('/oauth/jwks')).toBe(200);
    };
  }

  const NETWORK = '127.0.0.1';

  test('sheds requests while its database queue does not move, answers probes, and recovers', async () => {
    const relax = await holdDatabase(NETWORK);
    await expect.poll(() => status('/oauth/jwks')).toBe(503);
    const headers = { 'content-type': 'application/json', 'x-request-id': 'shed-1', origin: ORIGIN };
    const reply = await call('/oauth/introspect', { method: 'POST', headers, body: '{"token":"x"}' });
    expect([reply.status, await reply.json()]).toEqual([
      503,
      {
        ...{ type: 'api_error', code: 'unavailable', message: expect.any(String), errors: {} },
        ...{ event_id: 'shed-1', error: 'temporarily_unavailable', error_description: expect.any(String) },
      },
    ]);
    expect(Object.fromEntries(reply.headers)).toMatchObject({
      ...{ 'retry-after': '1', 'x-request-id': 'shed-1', 'cache-control': 'no-store' },
      ...{ 'access-control-allow-origin': ORIGIN, 'x-content-type-options': 'nosniff' },
      'content-security-policy': expect.stringContaining("default-src 'none'"),
    });
    const strange = { origin: 'https://evil.test', 'x-request-id': 'not a "safe" id' };
    const other = await call('/v1/participations', { headers: strange });
    const failure = (await other.json()) as Record<string, unknown>;
    expect(failure).not.toHaveProperty('error');
    expect(failure.event_id).toMatch(/^[0-9a-f-]{36}$/);
    expect(other.headers.get('x-request-id')).toBe(failure.event_id);
    expect(other.headers.get('access-control-allow-origin')).toBeNull();
    const unknown = await call('/v1/unknown', { headers: { 'x-request-id': 'shed-2' } });
    expect([unknown.status, unknown.headers.get('retry-after')]).toEqual([503, '1']);
    const page = await call('/sign-in');
    expect([page.status, page.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await status('/health')).toBe(200);
    expect(await status('/health/unknown')).toBe(503);
    expect(node.logged()).toMatch(/"request_id":"shed-1".*"status":503.*"error_code":"unavailable"/);
    expect(node.logged()).toMatch(/"request_id":"shed-2".*"status":503.*"error_code":"unavailable"/);
    // A flood must not fill the log with more than the lines of its requests.
    expect(node.logged()).not.toMatch(/"level":50/);
    await relax();
    expect(await node.ctx.metrics.registry.metrics()).toMatch(/causeway_http_requests_shed_total [1-9]/);
  });

  test('refuses the lane that floods its database, and not the others', async () => {
    const [greedy, other] = [partnerOf('greedy'), partnerOf('other')];
    const relax = await holdDatabase(greedy);
    await expect.poll(() => node.ctx.overload.isSaturated(greedy)).toBe(true);
    expect([other, NETWORK].map((lane) => node.ctx.overload.isSaturated(lane))).toEqual([false, false]);
    await relax();
    expect(node.ctx.overload.isSaturated(greedy)).toBe(false);
  });

  test('changes nothing with a refused request', async () => {
    expect(await status('/v1/offers', bearer())).toBe(200);
    const create = () =>
      call('/v1/wallet-ownership', {
        method: 'POST',
        headers: {
          ...{ authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          'idempotency-key': 'refused-once',
        },
        body: JSON.stringify({ wallet_address: `0x${'1'.repeat(40)}`, chain: 'ethereum_sepolia' }),
      });
    const lane = partnerOf('partner-one');
    const relax = await holdDatabase(lane);
    await expect.poll(() => node.ctx.overload.isSaturated(lane)).toBe(true);
    expect((await create()).status).toBe(503);
    await relax();
    const created = await create();
    expect([created.status, created.headers.get('idempotent-replayed')]).toEqual([200, null]);
  });

  // If the event loop is blocked for 600 ms, which is longer than a sample period, the delay histogram of
  // that sample is empty.
  test.each([150, 600])(
    'sheds requests while its event loop is repeatedly blocked for %d ms, and recovers',
    async (blockMs) => {
      const block = setInterval(() => {
        const end = performance.now() + blockMs;
        while (performance.now() < end);
      }, 1);
      try {
        await expect.poll(() => status('/oauth/jwks')).toBe(503);
      } finally {
        clearInterval(block);
      }
      await expect.poll(() => status('/oauth/jwks')).toBe(200);
    },
  );

  test('closes the connections whose requests it refuses while it drains', async () => {
    await holdDatabase(NETWORK);
    await expect.poll(() => status('/oauth/jwks')).toBe(503);
    const socket = connect(Number(new URL(node.ctx.baseUrl).port), NETWORK);
    let received = '';
    socket.on('data', (chunk) => (received += chunk.toString('latin1')));
    const request = 'GET /v1/offers HTTP/1.1\r\nhost: x\r\n\r\n';
    socket.write(request);
    await expect.poll(() => received).toMatch(/^HTTP\/1\.1 503 .*\r\nconnection: keep-alive\r\n/is);
    received = '';
    const closed = once(socket, 'close');
    const draining = drain();
    socket.write(request);
    await closed;
    expect(received).toMatch(/^HTTP\/1\.1 503 .*\r\nconnection: close\r\n/is);
    await draining;
  });
});
