import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { createEmptyDatabase, type TestDatabase } from '../../../test/setup/database.ts';
import { migrate, pendingMigrations } from './migrate.ts';
import { type OpenPool, openPool } from './pool.ts';

let database: TestDatabase;
let open: OpenPool;
const folders: string[] = [];

beforeEach(async () => {
  database = await createEmptyDatabase();
  open = openPool(database.url);
});

afterEach(async () => {
  await open.close();
  await database.drop();
});

afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true }))));

async function folderOf(files: Record<string, string>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'causeway-migrations-'));
  folders.push(folder);
  for (const [name, sql] of Object.entries(files)) await writeFile(join(folder, name), sql);
  return folder;
}

async function countOf(table: string): Promise<bigint | undefined> {
  const { rows } = await open.pool.query<{ n: bigint }>(`select count(*) as n from ${table}`);
  return rows[0]?.n;
}

test('applies the files in order and only once', async () => {
  const folder = await folderOf({
    '0002_fill.sql': 'insert into things values (1); insert into things values (2)',
    '0001_make.sql': 'create table things (id int)',
  });
  expect(await pendingMigrations(open.pool, folder)).toEqual(['0001_make.sql', '0002_fill.sql']);
  expect(await migrate(open.pool, folder)).toEqual(['0001_make.sql', '0002_fill.sql']);
  expect(await migrate(open.pool, folder)).toEqual([]);
  expect(await pendingMigrations(open.pool, folder)).toEqual([]);
  expect(await countOf('things')).toBe(2n);
});

test('of ten nodes that start at once one migrates, and all return after it has finished', async () => {
  const folder = await folderOf({
    '0001_make.sql': 'create table things (id int); select pg_sleep(0.2)',
    '0002_fill.sql': 'insert into things values (1)',
  });
  const nodes = Array.from({ length: 10 }, () => openPool(database.url, { max: 1 }));
  const seen = await Promise.all(
    nodes.map(async ({ pool }) => {
      const applied = await migrate(pool, folder);
      return { applied, count: await countOf('things') };
    }),
  );
  await Promise.all(nodes.map((node) => node.close()));
  expect(seen.filter(({ applied }) => applied.length === 2)).toHaveLength(1);
  expect(seen.filter(({ applied }) => applied.length === 0)).toHaveLength(9);
  expect(seen.every(({ count }) => count === 1n)).toBe(true);
});

test('a failing file is rolled back, earlier files are kept, and it can be fixed', async () => {
  const files = {
    '0001_make.sql': 'create table things (id int)',
    '0002_break.sql': 'create table halfway (id int); insert into things values (1); select 1/0',
  };
  await expect(migrate(open.pool, await folderOf(files))).rejects.toThrow(
    '0002_break.sql failed and was rolled back',
  );
  expect(await countOf('things')).toBe(0n);
  await expect(countOf('halfway')).rejects.toThrow('does not exist');

  const fixed = await folderOf({ ...files, '0002_break.sql': 'create table halfway (id int)' });
  expect(await migrate(open.pool, fixed)).toEqual(['0002_break.sql']);
});

test('rejects a file that was changed after it was applied, and names it', async () => {
  await migrate(open.pool, await folderOf({ '0001_make.sql': 'create table things (id int)' }));
  const changed = await folderOf({ '0001_make.sql': 'create table things (id bigint)' });
  await expect(migrate(open.pool, changed)).rejects.toThrow('0001_make.sql was changed after');
  await expect(pendingMigrations(open.pool, changed)).rejects.toThrow('0001_make.sql was changed after');
});

test('rejects a new file that sorts before an applied one', async () => {
  await migrate(open.pool, await folderOf({ '0002_make.sql': 'create table things (id int)' }));
  const late = await folderOf({
    '0001_late.sql': 'select 1',
    '0002_make.sql': 'create table things (id int)',
  });
  await expect(migrate(open.pool, late)).rejects.toThrow('0001_late.sql comes before 0002_make.sql');
});

test('leaves a database alone that is ahead of the code', async () => {
  await migrate(open.pool, await folderOf({ '0001_a.sql': 'select 1', '0002_b.sql': 'select 1' }));
  expect(await migrate(open.pool, await folderOf({ '0001_a.sql': 'select 1' }))).toEqual([]);
});

test.each([
  ['a malformed name', { '1_make.sql': 'select 1' }, 'NNNN_words'],
  ['a duplicate number', { '0001_a.sql': 'select 1', '0001_b.sql': 'select 1' }, 'the same number'],
  [
    'transaction control',
    { '0001_a.sql': 'create table t (id int);\ncommit;\nselect 1/0' },
    'must not control transactions',
  ],
])('rejects %s', async (_what, files, message) => {
  await expect(migrate(open.pool, await folderOf(files))).rejects.toThrow(message);
});

test('a busy table delays the migration, not the queries of other nodes', async () => {
  await open.pool.query('create table things (id int)');
  const folder = await folderOf({ '0001_add.sql': 'alter table things add column name text' });
  const reader = await open.pool.connect();
  await reader.query('begin; select from things');
  let isMigrated = false;
  const migrated = migrate(open.pool, folder).then(() => {
    isMigrated = true;
  });
  const waits = async () =>
    (await open.pool.query('select 1 from pg_locks where not granted and mode = $1', ['AccessExclusiveLock']))
      .rowCount;
  await expect.poll(waits, { timeout: 20_000 }).toBe(1);
  // This query queues behind the migration until the migration gives up its lock attempt.
  await open.pool.query('select from things');
  expect(isMigrated).toBe(false);
  await reader.query('commit');
  reader.release();
  await migrated;
  expect((await open.pool.query('select name from things')).rowCount).toBe(0);
});

test('is not subject to the statement timeout', async () => {
  const slow = await folderOf({ '0001_slow.sql': 'select pg_sleep(0.4)' });
  const strict = openPool(database.url, { statementTimeoutMs: 100 });
  await expect(strict.pool.query('select pg_sleep(0.4)')).rejects.toThrow('statement timeout');
  expect(await migrate(strict.pool, slow)).toEqual(['0001_slow.sql']);
  await expect(strict.pool.query('select pg_sleep(0.4)')).rejects.toThrow('statement timeout');
  await strict.close();
});

test('the migrations of the service apply to an empty database', async () => {
  const expected = await pendingMigrations(open.pool);
  expect(await migrate(open.pool)).toEqual(expected);
  expect(await pendingMigrations(open.pool)).toEqual([]);
});
