import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/setup/database.ts';
import { openDatabaseRelay } from '../../../test/support/database-relay.ts';
import { parseTimestamp } from './column-types.ts';
import { type OpenPool, openPool } from './pool.ts';

// Generous for a busy machine; normally the tests take far less time.
const POLL = { timeout: 20_000 };
let database: TestDatabase;
let open: OpenPool;

beforeAll(async () => {
  database = await createTestDatabase();
  open = openPool(database.url, { max: 2, applicationName: 'pool-test' });
});

afterAll(async () => {
  await open.close();
  await database.drop();
});

async function read(expression: string, values: unknown[] = []): Promise<unknown> {
  const { rows } = await open.pool.query<{ value: unknown }>(`select ${expression} as value`, values);
  return rows[0]?.value;
}

test('timestamps round-trip with microseconds in wire form', async () => {
  const microsecond = fc.bigInt({ min: -62_135_596_800_000_000n, max: 253_402_300_799_999_999n });
  await fc.assert(
    fc.asyncProperty(microsecond, async (micros) => {
      const seconds = micros / 1_000_000n - (micros % 1_000_000n < 0n ? 1n : 0n);
      const date = new Date(Number(seconds) * 1000).toISOString().slice(0, 19);
      const wire = `${date}.${String(micros - seconds * 1_000_000n).padStart(6, '0')}Z`;
      expect(await read('$1::timestamptz', [wire])).toBe(wire);
    }),
    { numRuns: 300 },
  );
});

test.each([
  ['2026-01-02 03:04:05+00', '2026-01-02T03:04:05.000000Z'],
  ['2026-01-02 03:04:05.12+00', '2026-01-02T03:04:05.120000Z'],
  ['2026-01-02 03:04:05.678901+00', '2026-01-02T03:04:05.678901Z'],
  ['infinity', 'infinity'],
])('reads %s as %s', (text, wire) => expect(parseTimestamp(text)).toBe(wire));

test.each([
  '2026-01-02 03:04:05+02',
  '2026-01-02 03:04:05',
  '0044-03-15 00:00:00+00 BC',
  '10000-01-01 00:00:00+00',
])('rejects %s instead of returning a wrong time', (text) =>
  expect(() => parseTimestamp(text)).toThrow('cannot be converted'),
);

test('arrays of texts round-trip, whatever they contain', async () => {
  const text = fc.oneof(
    fc.constantFrom(
      'offers:read',
      'NULL',
      'null',
      '',
      '{',
      '}',
      'a,b',
      '"',
      '\\',
      ' ',
      'ANNULLED',
      '[1:2]={a,b}',
    ),
    fc.string({ unit: 'grapheme' }).filter((value) => !value.includes('\0')),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(fc.option(text)), async (values) => {
      expect(await read('$1::text[]', [values])).toEqual(values);
    }),
    { numRuns: 300 },
  );
  expect(await read(`'[2:3]={a,b}'::text[]`)).toEqual(['a', 'b']);
  expect(await read(`'{{a,b},{c,d}}'::text[]`)).toEqual([
    ['a', 'b'],
    ['c', 'd'],
  ]);
});

test('returns UTC even if the role has another time zone', async () => {
  const role = `zoned_${Math.random().toString(36).slice(2)}`;
  await open.pool.query(`create role ${role} login superuser`);
  await open.pool.query(`alter role ${role} set timezone = 'Asia/Kolkata'`);
  await open.pool.query(`alter role ${role} set datestyle = 'German'`);
  const url = new URL(database.url);
  url.username = role;
  const zoned = openPool(url.href);
  const { rows } = await zoned.pool.query(`select timestamptz '2026-01-02T03:04:05.5Z' as at`);
  expect(rows).toEqual([{ at: '2026-01-02T03:04:05.500000Z' }]);
  await zoned.close();
  await open.pool.query(`drop role ${role}`);
});

test('numbers keep every digit: int8 is bigint and numeric is string, also in arrays', async () => {
  const largest = (2n ** 256n - 1n).toString();
  expect(await read('9223372036854775807::int8')).toBe(9_223_372_036_854_775_807n);
  expect(await read('$1::numeric(78,0)', [2n ** 256n - 1n])).toBe(largest);
  expect(await read('0.1000::numeric')).toBe('0.1000');
  expect(await read(`array[1, null, 9223372036854775807]::int8[]`)).toEqual([
    1n,
    null,
    9_223_372_036_854_775_807n,
  ]);
  expect(await read(`array[${largest}, 0.5]::numeric[]`)).toEqual([largest, '0.5']);
  expect(await read(`array['2026-01-02T03:04:05Z', null]::timestamptz[]`)).toEqual([
    '2026-01-02T03:04:05.000000Z',
    null,
  ]);
  expect(await read(`date '2026-01-02'`)).toBe('2026-01-02');
});

test('prepares a statement once per connection', async () => {
  const one = openPool(database.url, { max: 1 });
  for (let i = 0; i < 5; i++)
    await one.db.selectFrom('schema_migrations').select('name').where('name', '=', `x${i}`).execute();
  const { rows } = await one.pool.query(
    `select (generic_plans + custom_plans)::int as runs from pg_prepared_statements where statement like '%"schema_migrations"%'`,
  );
  expect(rows).toEqual([{ runs: 5 }]);
  await one.close();
});

test('closes a connection that has prepared too many statements', async () => {
  const one = openPool(database.url, { max: 1 });
  const prepared = async () =>
    (await one.pool.query<{ n: number }>('select count(*)::int as n from pg_prepared_statements')).rows[0]?.n;
  for (let i = 0; i < 999; i++) await sql.raw(`select ${i}`).execute(one.db);
  expect(await prepared()).toBe(999);
  await sql.raw(`select ${'1 + '.repeat(3000)}1`).execute(one.db);
  expect(await prepared()).toBe(999);
  await one.db.connection().execute(async (db) => {
    for (let i = 999; i < 1100; i++) await sql.raw(`select ${i}`).execute(db);
    const count = sql<{ n: number }>`select count(*)::int as n from pg_prepared_statements`;
    expect((await count.execute(db)).rows).toEqual([{ n: 1000 }]);
  });
  expect(await prepared()).toBe(0);
  await one.close();
});

test('replaces a connection whose cached plan a migration invalidated, after one failure', async () => {
  const one = openPool(database.url, { max: 1 });
  await one.pool.query('create table changing (id int)');
  const query = () => sql`select * from changing`.execute(one.db);
  await query();
  await one.pool.query('alter table changing add column more text');
  await expect(query()).rejects.toThrow('cached plan');
  await expect(query()).resolves.toMatchObject({ rows: [] });
  await one.close();
});

test('reads the rows of a prepared statement like the first time, whatever it returns', async () => {
  const one = openPool(database.url, { max: 1 });
  await one.pool.query('create table repeated (id int primary key, at timestamptz, tags text[])');
  const at = '2026-01-02T03:04:05.678901Z';
  const insert = (id: number) =>
    sql`insert into repeated values (${id}, ${at}, ${['a', null]})`.execute(one.db);
  const returning = (id: number) =>
    sql`insert into repeated values (${id}, ${at}, ${['a', null]}) returning at, tags`.execute(one.db);
  const select = (id: number) => sql`select * from repeated where id = ${id}`.execute(one.db);
  for (const id of [1, 2, 3]) {
    expect(await insert(id)).toMatchObject({ rows: [], numAffectedRows: 1n });
    expect((await returning(id + 10)).rows).toEqual([{ at, tags: ['a', null] }]);
    expect((await select(id)).rows).toEqual([{ id, at, tags: ['a', null] }]);
    expect((await select(99)).rows).toEqual([]);
    const { rows } = await sql`select tags from repeated`.execute(one.db);
    expect(rows).toHaveLength(2 * id);
    expect(rows[0]).toEqual({ tags: ['a', null] });
  }
  await expect(insert(1)).rejects.toMatchObject({ code: '23505' });
  await expect(insert(4)).resolves.toBeDefined();
  // `pg` cannot send this value, so it never reaches the server.
  const bad = { toPostgres: () => assert.fail('not a value') };
  await expect(sql`select * from repeated where id = ${bad}`.execute(one.db)).rejects.toThrow('not a value');
  expect((await select(4)).rows).toHaveLength(1);
  await one.close();
});

test('reads the rows of a statement that a pooler has prepared again after a migration', async () => {
  const one = openPool(database.url, { max: 1 });
  await one.pool.query('create table pooled (id int, held boolean)');
  await one.pool.query('insert into pooled values (1, false)');
  const query = () => sql`select * from pooled`.execute(one.db);
  for (let i = 0; i < 2; i++) expect((await query()).rows).toEqual([{ id: 1, held: false }]);
  const { rows } = await one.pool.query<{ name: string }>('select name from pg_prepared_statements');
  await one.pool.query(
    `alter table pooled drop column held, add column code text default 'x'; deallocate "${rows[0]?.name}"`,
  );
  await one.pool.query(`prepare "${rows[0]?.name}" as select * from pooled`);
  expect((await query()).rows).toEqual([{ id: 1, code: 'x' }]);
  await one.close();
});

test('a failed transaction is rolled back and releases its connection', async () => {
  const one = openPool(database.url, { max: 1 });
  await one.pool.query('create table tried (id int)');
  const failing = one.db.transaction().execute(async (trx) => {
    await sql`insert into tried values (1)`.execute(trx);
    throw new Error('rolled back on purpose');
  });
  await expect(failing).rejects.toThrow('rolled back on purpose');
  expect((await sql`select * from tried`.execute(one.db)).rows).toEqual([]);
  await one.close();
});

test('limits the time of a statement and of waiting for a connection', async () => {
  const strict = openPool(database.url, { max: 1, statementTimeoutMs: 100, connectionTimeoutMs: 100 });
  await expect(strict.pool.query('select pg_sleep(5)')).rejects.toThrow('statement timeout');
  const client = await strict.pool.connect();
  await expect(strict.pool.query('select 1')).rejects.toThrow('timeout');
  client.release();
  await strict.close();
});

test('closes a connection whose server does not respond, and calls back only once', async () => {
  const relay = await openDatabaseRelay(database.url);
  const one = openPool(relay.url, { max: 1 });
  one.pool.on('connect', (client) => {
    Object.assign((client as unknown as { connectionParameters: object }).connectionParameters, {
      query_timeout: 200,
    });
  });
  const statement = () => sql`select 1`.execute(one.db);
  const transaction = () => one.db.transaction().execute((tx) => sql`select 1`.execute(tx));
  for (const run of [statement, transaction]) {
    await run();
    relay.freeze();
    await expect(run()).rejects.toThrow('Query read timeout');
    await expect.poll(relay.count, POLL).toBe(0);
    relay.thaw();
    // The pool has one connection, so this fails unless the connection was released exactly once.
    await run();
    // An idle connection may wait for longer than the limit.
    await sleep(300);
    await run();
  }
  await one.close();
  relay.close();
});

test('replaces an idle connection that the server closed', async () => {
  const lost: string[] = [];
  const one = openPool(database.url, { max: 1, log: (message) => lost.push(message) });
  const { rows } = await one.pool.query<{ pid: number }>('select pg_backend_pid() as pid');
  await open.pool.query('select pg_terminate_backend($1, 5000)', [rows[0]?.pid]);
  await expect.poll(() => lost.length, POLL).toBe(1);
  await expect(one.pool.query('select 1')).resolves.toBeDefined();
  await one.close();
});

test('sets the application name', async () => {
  expect(await read(`current_setting('application_name')`)).toBe('pool-test');
});
