import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/setup/database.ts';
import { countStatements } from '../../../test/support/count-statements.ts';
import { type Db, type OpenPool, openPool } from './pool.ts';

const ACTOR = { object: 'user', id: 'one' };
const ENDED = 'the transaction that this statement belongs to has ended';
let database: TestDatabase;
let one: OpenPool;

beforeAll(async () => {
  database = await createTestDatabase();
  one = openPool(database.url, { max: 1 });
  await one.pool.query('create table things (id int primary key)');
});
beforeEach(() => one.pool.query('truncate things'));
afterAll(async () => {
  await one.close();
  await database.drop();
});

const insert = (db: Db, id: number) => sql`insert into things values (${id})`.execute(db);
const stored = async () =>
  (await one.pool.query<{ id: number }>('select id from things order by id')).rows.map(({ id }) => id);
const pid = async (db: Db = one.db) =>
  (await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db)).rows[0]?.pid;

test('a transaction carries its tags, whatever they contain, and leaves none behind', async () => {
  const readTags = sql<{ request: string; actor: string }>`select
    coalesce(current_setting('causeway.request_id', true), '') as request,
    coalesce(current_setting('causeway.actor', true), '') as actor`;
  for (const requestId of ['a', "b'; drop table things; --", '\\']) {
    for (const actor of [ACTOR, { object: 'user', id: "\\' or" }, null]) {
      const tagged = one.tagged({ requestId, actor }).transaction();
      const { rows } = await tagged.execute((tx) => readTags.execute(tx));
      expect(rows).toEqual([{ request: requestId, actor: actor === null ? '' : JSON.stringify(actor) }]);
    }
  }
  expect((await readTags.execute(one.db)).rows).toEqual([{ request: '', actor: '' }]);
});

test('a tagged transaction has the requested isolation level and access mode', async () => {
  const transaction = one.tagged({ requestId: 'a', actor: ACTOR }).transaction();
  const { rows } = await transaction
    .setIsolationLevel('serializable')
    .setAccessMode('read only')
    .execute((tx) =>
      sql`select current_setting('transaction_isolation') as level,
        current_setting('transaction_read_only') as read_only`.execute(tx),
    );
  expect(rows).toEqual([{ level: 'serializable', read_only: 'on' }]);
});

test('no statement runs if the transaction cannot begin', async () => {
  // PostgreSQL rejects the tag.
  const tagged = one.tagged({ requestId: 'nul \u0000', actor: null });
  for (let i = 0; i < 2; i++)
    await expect(tagged.transaction().execute((tx) => insert(tx, 1))).rejects.toThrow();
  expect(await stored()).toEqual([]);
});

test('no statement runs after the rollback of a callback that did not wait for it', async () => {
  const left: Promise<unknown>[] = [];
  const leave = (tx: Db, id: number) => {
    const inserted = insert(tx, id);
    left.push(inserted.catch((error: Error) => error.message));
    return inserted;
  };
  for (let i = 0; i < 20; i++) {
    const abandoned = one.db
      .transaction()
      .execute((tx) => Promise.all([leave(tx, 1), leave(tx, 2), Promise.reject(new Error('early'))]));
    // The next transaction has the same connection.
    const next = one.db.transaction().execute((tx) => insert(tx, 100 + i));
    await expect(abandoned).rejects.toThrow('early');
    await next;
  }
  const outcomes = await Promise.all(left);
  expect(outcomes.filter((outcome) => outcome === ENDED).length).toBeGreaterThanOrEqual(20);
  expect((await stored()).filter((id) => id < 100)).toEqual([]);
});

test('no statement runs after the commit', async () => {
  const left: Promise<unknown>[] = [];
  await one.db.transaction().execute(async (tx) => {
    await insert(tx, 1);
    // The first statement is sent before the commit. The second waits for the first, so it comes after the commit.
    for (const id of [2, 3]) left.push(insert(tx, id).catch((error: Error) => error.message));
  });
  expect((await Promise.all(left))[1]).toBe(ENDED);
  expect(await stored()).toEqual([1, 2]);
});

test('a commit fails if a statement of the transaction has failed and its error was ignored', async () => {
  const ignoring = one.db.transaction().execute(async (tx) => {
    await insert(tx, 1);
    await insert(tx, 1).catch(() => undefined);
  });
  await expect(ignoring).rejects.toThrow('the transaction was rolled back');
  expect(await stored()).toEqual([]);
});

test('an error of the database keeps the connection, and the error that ended a transaction is reported', async () => {
  const before = await pid();
  const failing = one.db.transaction().execute(async (tx) => {
    await insert(tx, 1);
    await insert(tx, 1);
  });
  await expect(failing).rejects.toMatchObject({ code: '23505' });
  await one.pool.query('create table deferred (id int unique deferrable initially deferred)');
  const refused = one.db.transaction().execute((tx) => sql`insert into deferred values (1), (1)`.execute(tx));
  await expect(refused).rejects.toMatchObject({ code: '23505' });
  expect(await stored()).toEqual([]);
  expect(await pid()).toBe(before);
});

test('a connection is closed after a value that cannot be sent, which rolls its transaction back', async () => {
  const before = await pid();
  const bad = { toPostgres: () => assert.fail('not a value') };
  const fail = () =>
    one.db.transaction().execute(async (tx) => {
      await insert(tx, 1);
      await sql`select * from things where id = ${bad}`.execute(tx);
    });
  const { statements } = await countStatements(one.pool, () => expect(fail()).rejects.toThrow('not a value'));
  // No rollback is sent: on a server that does not respond, it would only wait for another time limit.
  expect(statements).toBe(3);
  expect(await pid()).not.toBe(before);
  expect(await stored()).toEqual([]);
});

test('a connection is closed after a plan that a migration has invalidated, also in a transaction', async () => {
  await one.pool.query('create table replaced (id int)');
  const read = () => one.db.transaction().execute((tx) => sql`select * from replaced`.execute(tx));
  await read();
  await one.pool.query('alter table replaced add column more text');
  await expect(read()).rejects.toThrow('cached plan');
  expect((await read()).rows).toEqual([]);
});

test('a connection that is still in a transaction is closed instead of kept', async () => {
  const before = await pid();
  await one.db.connection().execute(async (db) => {
    await sql`begin`.execute(db);
    await insert(db, 1);
  });
  expect(await pid()).not.toBe(before);
  expect(await stored()).toEqual([]);
});
