import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { verifyEventProof } from '../../../../sdk/src/server/verify-event-proof.ts';
import { type TestApp, testApp } from '../../../test/support/app.ts';
import { makeClient, partnerOf, USER } from '../../../test/support/tokens.ts';
import { appendEvents, placeEvents } from './event.ts';
import { deleteExpiredEvents } from './retention.ts';
import { extendTrees } from './tree.ts';

const DAY_MS = 86_400_000;
let app: TestApp;
let token: string;
beforeAll(async () => {
  app = await testApp();
  token = await app.tokenFor({ userId: null });
});
afterAll(() => app.close());

const append = (count: number, partner = 'partner-one') =>
  appendEvents(
    app.ctx,
    app.ctx.db,
    Array.from({ length: count }, (_, n) => ({
      ...{ partnerId: partnerOf(partner), userId: null, type: 'offer.published' },
      data: { object: 'offer', id: `offer "${n}" ü` },
    })),
  );
const get = async (path: string, bearer = token) => {
  const reply = await app.app.inject({ url: path, headers: { authorization: `Bearer ${bearer}` } });
  return { status: reply.statusCode, json: reply.json() };
};

describe('GET /v1/events/{id}/proof', () => {
  test('every event of a growing log has a proof that verifies offline, from the list and from a webhook', async () => {
    const ids: string[] = [];
    let key = '';
    for (const batch of [1, 1, 1, 2, 3, 8, 17]) {
      ids.push(...(await append(batch)));
      for (const [n, id] of ids.entries()) {
        const { json } = await get(`/v1/events/${id}/proof`);
        key ||= json.key;
        expect(json).toMatchObject({ object: 'event_proof', event_id: id, key });
        const verified = verifyEventProof({ event: json.leaf, proof: json.proof, key });
        expect(verified?.sequence).toBe(n + 1);
      }
    }
    const [event] = (await get('/v1/events?limit=1')).json.data;
    const { json } = await get(`/v1/events/${event.id}/proof`);
    expect(JSON.stringify(event)).toBe(json.leaf);
    expect(verifyEventProof({ event, proof: json.proof, key })?.sequence).toBe(event.sequence);
  });

  test('a changed event, proof, checkpoint or key is refused', async () => {
    const [id] = await append(1);
    const { proof, key, leaf } = (await get(`/v1/events/${id}/proof`)).json;
    const [header, index, first, ...rest] = proof.split('\n');
    const forged = [
      { event: leaf.replace('published', 'ended') },
      { event: `${leaf} ` },
      { proof: proof.replace(/^index \d+$/m, 'index 0') },
      { proof: [header, index, ...rest].join('\n') },
      { proof: [header, index, first, first, ...rest].join('\n') },
      { proof: proof.replace(/\n(\d+)\n/, (_: string, size: string) => `\n${Number(size) + 1}\n`) },
      { proof: proof.replace(/— (\S+) (.)/, (_: string, name: string) => `— ${name} B`).slice(0, -8) },
      { proof: '' },
      { key: key.replace('causeway/events', 'causeway/audit') },
      { key: `${key.slice(0, -3)}AA=` },
      { key: '' },
    ];
    for (const change of forged) expect(verifyEventProof({ event: leaf, proof, key, ...change })).toBeNull();
  });

  test('trees are extended by several nodes at once without gaps', async () => {
    const ids = await append(300);
    await get('/v1/events?limit=1');
    await Promise.all([1, 2, 3, 4].map(() => extendTrees(app.ctx)));
    const { json } = await get(`/v1/events/${ids.at(-1)}/proof`);
    expect(verifyEventProof({ event: json.leaf, proof: json.proof, key: json.key })).not.toBeNull();
  });

  test('strangers and partners that may not read an event get none', async () => {
    await makeClient(app.ctx, { clientId: 'partner-two' });
    const [id] = await append(1);
    const other = await app.tokenFor({ clientId: 'partner-two', userId: null });
    expect((await get(`/v1/events/${id}/proof`, other)).status).toBe(404);
    const [hidden] = await appendEvents(app.ctx, app.ctx.db, [
      {
        partnerId: partnerOf('partner-one'),
        userId: USER,
        type: 'wallet.bound',
        data: { object: 'x', id: 'y' },
      },
    ]);
    expect((await get(`/v1/events/${hidden}`)).json.type).toBe('redacted');
    expect((await get(`/v1/events/${hidden}/proof`)).status).toBe(404);
    expect((await get('/v1/events/nonsense/proof')).status).toBe(404);
  });

  test('a broken tree keeps the events of its partner, and those of others expire', async () => {
    const { db } = app.ctx;
    const [broken, healthy] = [partnerOf('partner-two'), partnerOf('partner-one')];
    const event = { userId: null, type: 'offer.published', data: { object: 'offer', id: 'x' } };
    await appendEvents(app.ctx, db, [
      { ...event, partnerId: broken },
      { ...event, partnerId: healthy },
    ]);
    await placeEvents(db);
    // Breaks the tree: adds a tree node beyond the tree's size.
    await sql`insert into event_tree_nodes values (${broken}, 0, 0, '\\x00')`.execute(db);
    const clock = { ...app.ctx.clock, now: () => app.ctx.clock.now() + 100 * DAY_MS };
    await expect(deleteExpiredEvents({ ...app.ctx, clock })).rejects.toThrow(broken);
    const { rows } = await sql`select distinct partner_id from events`.execute(db);
    expect(rows).toEqual([{ partner_id: broken }]);
    await sql`delete from event_tree_nodes where partner_id = ${broken}`.execute(db);
    await deleteExpiredEvents({ ...app.ctx, clock });
    expect((await sql`select from events`.execute(db)).rows).toEqual([]);
  });

  test('events that expired stay leaves, so that later ones can be proven', async () => {
    await append(3);
    const clock = { ...app.ctx.clock, now: () => app.ctx.clock.now() + 100 * DAY_MS };
    await deleteExpiredEvents({ ...app.ctx, clock });
    const [id] = await append(1);
    const { json } = await get(`/v1/events/${id}/proof`);
    expect(verifyEventProof({ event: json.leaf, proof: json.proof, key: json.key })).not.toBeNull();
  });

  test('a tree of expired events keeps one node per level, from which it grows and proves later events', async () => {
    const { db } = app.ctx;
    await deleteExpiredEvents({ ...app.ctx, clock: inTheFuture() });
    for (const batch of [1, 2, 4, 7, 64]) {
      const ids = await append(batch);
      for (const id of ids) {
        const { json } = await get(`/v1/events/${id}/proof`);
        expect(verifyEventProof({ event: json.leaf, proof: json.proof, key: json.key })).not.toBeNull();
      }
      await deleteExpiredEvents({ ...app.ctx, clock: inTheFuture() });
      const { rows } = await sql<{ n: number }>`select count(*)::int as n from event_tree_nodes
        where partner_id = ${partnerOf('partner-one')} group by level`.execute(db);
      expect(rows.map(({ n }) => n)).toEqual(rows.map(() => 1));
    }
  });
});

function inTheFuture() {
  return { ...app.ctx.clock, now: () => app.ctx.clock.now() + 100 * DAY_MS };
}
