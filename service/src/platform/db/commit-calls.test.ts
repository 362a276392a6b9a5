import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/setup/database.ts';
import { callAtCommit } from './commit-calls.ts';
import { type Db, type OpenPool, openPool } from './pool.ts';

const PARTNER = '01890000-0000-7000-8000-000000000001';
let database: TestDatabase;
let open: OpenPool;
beforeAll(async () => {
  database = await createTestDatabase();
  open = openPool(database.url, { max: 1 });
});
beforeEach(() => sql`truncate events`.execute(open.db));
afterAll(async () => {
  await open.close();
  await database.drop();
});

const append = (db: Db, note: string, type = 'offer.published') =>
  callAtCommit(db, 'append_events', [
    {
      id: crypto.randomUUID(),
      partner_id: PARTNER,
      type,
      data: { note },
      inserted_at: '2026-01-01T00:00:00Z',
    },
  ]);
const notes = async (db: Db = open.db) => {
  const { rows } = await sql<{
    note: string;
  }>`select data ->> 'note' as note from events order by written`.execute(db);
  return rows.map(({ note }) => note);
};

test.each(['untagged', 'tagged'])('makes the calls of an %s transaction at its commit', async (kind) => {
  const db = kind === 'tagged' ? open.tagged({ requestId: "it's \\ one", actor: null }) : open.db;
  const texts = ["it's", '\\n', "\\'; drop table events; --"];
  await db.transaction().execute(async (tx) => {
    for (const text of texts) await append(tx, text);
    expect(await notes(tx)).toEqual([]);
  });
  expect(await notes()).toEqual(texts);
});

test('makes no call after a rollback, nor with the next transaction of the connection', async () => {
  await expect(
    open.db.transaction().execute(async (tx) => {
      await append(tx, 'rolled back');
      throw new Error('rolled back');
    }),
  ).rejects.toThrow('rolled back');
  await open.db.transaction().execute((tx) => sql`select 1`.execute(tx));
  expect(await notes()).toEqual([]);
});

test('a transaction whose call fails changes nothing, and its connection stays usable', async () => {
  await expect(
    open.db.transaction().execute(async (tx) => {
      await sql`insert into partners (id, name) values (${PARTNER}, 'changed')`.execute(tx);
      await append(tx, 'before');
      await append(tx, 'refused', 'not a type');
      await append(tx, 'after');
    }),
  ).rejects.toThrow('violates check constraint');
  expect(await notes()).toEqual([]);
  expect((await sql`select from partners where id = ${PARTNER}`.execute(open.db)).rows).toEqual([]);
});

test('calls immediately outside a transaction', async () => {
  await append(open.db, 'now');
  expect(await notes()).toEqual(['now']);
});
