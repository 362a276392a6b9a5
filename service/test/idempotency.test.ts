import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestApp, testApp } from './support/app.ts';
import { createThings, gate, thingRoutes } from './support/things.ts';

let one: TestApp;
let token: string;
beforeAll(async () => {
  one = await testApp({ routes: thingRoutes });
  await createThings(one.ctx);
  token = await one.tokenFor({});
});
afterAll(() => one.close());

const post = (key: string, name: string, as = token, from = one) =>
  from.app.inject({
    method: 'POST',
    url: '/v1/things',
    payload: { name },
    headers: { authorization: `Bearer ${as}`, 'idempotency-key': key },
  });
const count = async (name: string) =>
  (await sql<{ n: number }>`select count(*)::int as n from things where name = ${name}`.execute(one.ctx.db))
    .rows[0]?.n;

test('the same request again gets the stored reply and has no second effect', async () => {
  const first = await post('k1', 'once');
  const again = await post('k1', 'once');
  expect(first.headers).not.toHaveProperty('idempotent-replayed');
  expect(again.headers['idempotent-replayed']).toBe('true');
  expect(again.body).toBe(first.body);
  expect(await count('once')).toBe(1);
});

test('the order of members and the spacing do not make another body', async () => {
  const send = (payload: string) =>
    one.app.inject({
      method: 'POST',
      url: '/v1/things',
      payload,
      headers: {
        authorization: `Bearer ${token}`,
        'idempotency-key': 'k1b',
        'content-type': 'application/json',
      },
    });
  const first = await send('{"name":"order","loud":true}');
  expect((await send('{ "loud": true, "name": "order" }')).body).toBe(first.body);
});

test('the same key with another body is refused', async () => {
  await post('k2', 'mine');
  expect((await post('k2', 'other')).json().code).toBe('idempotency_key_reused');
  expect(await count('other')).toBe(0);
});

test('another user or another partner has its own keys', async () => {
  await post('k3', 'apart');
  await post('k3', 'apart', await one.tokenFor({ userId: '01890000-0000-7000-8000-0000000000bb' }));
  await post('k3', 'apart', await one.tokenFor({ clientId: 'partner-two' }));
  expect(await count('apart')).toBe(3);
});

test('a refusal is replayed like any other answer', async () => {
  expect((await post('k4', 'refused')).json().code).toBe('offer_ended');
  const again = await post('k4', 'refused');
  expect([again.json().code, again.headers['idempotent-replayed']]).toEqual(['offer_ended', 'true']);
});

test('after an outage the same key may be tried again', async () => {
  expect((await post('k5', 'outage')).statusCode).toBe(503);
  const again = await post('k5', 'outage');
  expect(again.statusCode).toBe(503);
  expect(again.headers).not.toHaveProperty('idempotent-replayed');
});

test('a crash between the effect and the reply still replays the right reply', async () => {
  expect((await post('k6', 'dies after its effect')).statusCode).toBe(500);
  const again = await post('k6', 'dies after its effect');
  expect(again.statusCode).toBe(200);
  expect(again.headers['idempotent-replayed']).toBe('true');
  expect(await count('dies after its effect')).toBe(1);
});

test('of 50 at once one runs, the others learn that it runs or get its reply', async () => {
  const replies = await Promise.all(Array.from({ length: 50 }, () => post('k7', 'crowd')));
  expect(await count('crowd')).toBe(1);
  const fresh = replies.filter((reply) => reply.statusCode === 200 && !reply.headers['idempotent-replayed']);
  expect(fresh).toHaveLength(1);
  for (const reply of replies)
    if (reply.statusCode !== 200) expect(reply.json().code).toBe('idempotency_in_progress');
});

test('while the first still runs the second is told so', async () => {
  let open = () => {};
  const entered = new Promise<void>((resolve) => {
    gate.entered = resolve;
  });
  gate.hold = new Promise((resolve) => {
    open = () => resolve();
  });
  const first = post('k8', 'held');
  await entered;
  const second = await post('k8', 'held');
  expect([second.statusCode, second.json().code]).toEqual([409, 'idempotency_in_progress']);
  open();
  expect((await first).statusCode).toBe(200);
});

/** The server notices a closed connection a moment later. */
async function lockReleased(node: number): Promise<void> {
  const held = () =>
    sql`select from pg_locks where locktype = 'advisory' and objid = ${node}::oid`.execute(one.ctx.db);
  while ((await held()).rows.length > 0) await new Promise((resolve) => setTimeout(resolve, 10));
}

test('a key whose node died before its effect is free at once for another node', async () => {
  const two = await testApp({
    routes: thingRoutes,
    databaseUrl: one.ctx.pool.options.connectionString ?? '',
  });
  const as = await two.tokenFor({});
  let open = () => {};
  const entered = new Promise<void>((resolve) => {
    gate.entered = resolve;
  });
  gate.hold = new Promise((resolve) => {
    open = () => resolve();
  });
  const lost = post('k9', 'orphan', as, two);
  await entered;
  expect((await post('k9', 'orphan')).json().code).toBe('idempotency_in_progress');
  await two.ctx.listener.close();
  await lockReleased(two.ctx.node);
  gate.hold = Promise.resolve();
  expect((await post('k9', 'orphan')).statusCode).toBe(200);
  // The first node was not dead after all: its effect is undone, because the key is no longer its own.
  open();
  expect((await lost).json().code).toBe('idempotency_in_progress');
  expect(await count('orphan')).toBe(1);
  await two.app.close();
  await two.ctx.pool.end();
});

test.each(['', ' ', 'x'.repeat(256), 'ключ'.normalize(), 'a b'])('key %j is refused', async (key) => {
  const reply = await post(key, 'x');
  expect([reply.statusCode, Object.keys(reply.json().errors)]).toEqual([422, ['Idempotency-Key']]);
});

test('replies are sealed at rest', async () => {
  await post('k10', 'needle-in-the-store');
  const { rows } = await sql<{
    all: string;
  }>`select string_agg(k::text, ' ') || string_agg(encode(outcome, 'escape'), ' ') as all from idempotency_keys k`.execute(
    one.ctx.db,
  );
  expect(rows[0]?.all).not.toContain('needle-in-the-store');
});
