import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { releaseHold } from '../src/domain/holdings/freeze.ts';
import { holdUser } from '../src/domain/users/hold.ts';
import { type TestApp, testApp } from './support/app.ts';
import { countStatements } from './support/count-statements.ts';
import { createThings, gate, thingRoutes } from './support/things.ts';

let app: TestApp;
let token: string;
beforeAll(async () => {
  app = await testApp({ routes: thingRoutes });
  await createThings(app.ctx);
  token = await app.tokenFor({});
});
afterAll(() => app.close());

const post = (key: string, name: string, as = token, from = app) =>
  from.app.inject({
    method: 'POST',
    url: '/v1/things',
    payload: { name },
    headers: { authorization: `Bearer ${as}`, 'idempotency-key': key },
  });
const count = async (name: string) =>
  (await sql<{ n: number }>`select count(*)::int as n from things where name = ${name}`.execute(app.ctx.db))
    .rows[0]?.n;

test('a repeated request gets the stored reply and has no second effect', async () => {
  const first = await post('k1', 'once');
  const again = await post('k1', 'once');
  expect(first.headers).not.toHaveProperty('idempotent-replayed');
  expect(again.headers['idempotent-replayed']).toBe('true');
  expect(again.body).toBe(first.body);
  expect(await count('once')).toBe(1);
});

test('member order and whitespace do not change the body', async () => {
  const send = (payload: string) =>
    app.app.inject({
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

test('rejects the same key with another body', async () => {
  await post('k2', 'mine');
  expect((await post('k2', 'other')).json().code).toBe('idempotency_key_reused');
  expect(await count('other')).toBe(0);
});

test('keys are separate per user and partner', async () => {
  await post('k3', 'apart');
  await post('k3', 'apart', await app.tokenFor({ userId: '01890000-0000-7000-8000-0000000000bb' }));
  await post('k3', 'apart', await app.tokenFor({ clientId: 'partner-two' }));
  expect(await count('apart')).toBe(3);
});

test('a user on hold can neither use a new key nor get a stored reply', async () => {
  const user = '01890000-0000-7000-8000-0000000000cc';
  const as = await app.tokenFor({ userId: user });
  const first = await post('k3b', 'before the hold', as);
  await holdUser(app.ctx, user, 'a reason');
  const refused = [
    await post('k3b', 'before the hold', as),
    await post('k3b', 'another body', as),
    await post('k3c', 'during the hold', as),
    // Invalid requests get the same error as valid ones.
    await post('k3c', '', as),
    await post('a b', 'during the hold', as),
  ];
  for (const reply of refused)
    expect([reply.statusCode, reply.json().code]).toEqual([403, 'account_restricted']);
  expect(await count('during the hold')).toBe(0);
  await releaseHold(app.ctx, user, 'a reason');
  expect((await post('k3b', 'before the hold', as)).body).toBe(first.body);
  // The refused request has not used up its key.
  const after = await post('k3c', 'after the hold', as);
  expect([after.statusCode, after.headers['idempotent-replayed']]).toEqual([200, undefined]);
});

test('the hold is checked in the round trip that claims the key', async () => {
  const as = await app.tokenFor({});
  const unkeyed = () =>
    app.app.inject({
      method: 'POST',
      url: '/v1/things',
      payload: { name: 'unkeyed' },
      headers: { authorization: `Bearer ${as}` },
    });
  await unkeyed();
  const without = await countStatements(app.ctx.pool, unkeyed);
  const withKey = await countStatements(app.ctx.pool, () => post('k3d', 'keyed', as));
  // The claim takes the place of the check. The additional statement stores the reply.
  expect(withKey.statements).toBe(without.statements + 1);
});

test('replays a refusal with its message', async () => {
  expect((await post('k4', 'refused')).json().code).toBe('offer_ended');
  const again = await post('k4', 'refused');
  expect(again.json()).toMatchObject({ code: 'offer_ended', message: 'Ended yesterday.' });
  expect(again.headers['idempotent-replayed']).toBe('true');
});

test('a key can be retried after an upstream outage', async () => {
  expect((await post('k5', 'outage')).statusCode).toBe(503);
  const again = await post('k5', 'outage');
  expect(again.statusCode).toBe(503);
  expect(again.headers).not.toHaveProperty('idempotent-replayed');
});

test('a crash between the effect and the reply still replays the reply', async () => {
  expect((await post('k6', 'crash after the effect')).statusCode).toBe(500);
  const again = await post('k6', 'crash after the effect');
  expect(again.statusCode).toBe(200);
  expect(again.headers['idempotent-replayed']).toBe('true');
  expect(await count('crash after the effect')).toBe(1);
});

test('of 50 concurrent requests one runs, the others get 409 or its reply', async () => {
  const replies = await Promise.all(Array.from({ length: 50 }, () => post('k7', 'crowd')));
  expect(await count('crowd')).toBe(1);
  const fresh = replies.filter((reply) => reply.statusCode === 200 && !reply.headers['idempotent-replayed']);
  expect(fresh).toHaveLength(1);
  for (const reply of replies)
    if (reply.statusCode !== 200) expect(reply.json().code).toBe('idempotency_in_progress');
});

test('a second request gets 409 while the first is running', async () => {
  let release = () => {};
  const entered = new Promise<void>((resolve) => {
    gate.entered = resolve;
  });
  gate.hold = new Promise((resolve) => {
    release = () => resolve();
  });
  const first = post('k8', 'held');
  await entered;
  const second = await post('k8', 'held');
  expect([second.statusCode, second.json().code]).toEqual([409, 'idempotency_in_progress']);
  release();
  expect((await first).statusCode).toBe(200);
});

/**
 * Waits until the database server has noticed that the node's connection is closed, and has released the node's lock.
 */
async function lockReleased(node: number): Promise<void> {
  const held = () =>
    sql`select from pg_locks where locktype = 'advisory' and objid = ${node}::oid`.execute(app.ctx.db);
  while ((await held()).rows.length > 0) await new Promise((resolve) => setTimeout(resolve, 10));
}

test('another node can take over the key of a dead node at once', async () => {
  const other = await testApp({
    routes: thingRoutes,
    databaseUrl: app.ctx.pool.options.connectionString ?? '',
  });
  const as = await other.tokenFor({});
  let release = () => {};
  const entered = new Promise<void>((resolve) => {
    gate.entered = resolve;
  });
  gate.hold = new Promise((resolve) => {
    release = () => resolve();
  });
  const lost = post('k9', 'orphan', as, other);
  await entered;
  expect((await post('k9', 'orphan')).json().code).toBe('idempotency_in_progress');
  await other.ctx.listener.close();
  await lockReleased(other.ctx.node);
  gate.hold = Promise.resolve();
  expect((await post('k9', 'orphan')).statusCode).toBe(200);
  // The first node was still running. Its changes are rolled back, because it no longer owns the idempotency
  // key.
  release();
  expect((await lost).json().code).toBe('idempotency_in_progress');
  expect(await count('orphan')).toBe(1);
  await other.app.close();
  await other.ctx.pool.end();
});

test.each(['', ' ', 'x'.repeat(256), 'ключ'.normalize(), 'a b'])('rejects the key %j', async (key) => {
  const reply = await post(key, 'x');
  expect([reply.statusCode, Object.keys(reply.json().errors)]).toEqual([422, ['Idempotency-Key']]);
});

test('stored replies are encrypted', async () => {
  await post('k10', 'needle-in-the-store');
  const { rows } = await sql<{
    all: string;
  }>`select string_agg(k::text, ' ') || string_agg(encode(outcome, 'escape'), ' ') as all from idempotency_keys k`.execute(
    app.ctx.db,
  );
  expect(rows[0]?.all).not.toContain('needle-in-the-store');
});
