import pg from 'pg';
import { expect, test } from 'vitest';
import { pendingMigrations } from '../../src/platform/db/migrate.ts';
import { claimServer } from './claim.ts';
import { runStatements } from './cluster.ts';
import { createEmptyDatabase, createTestDatabase } from './database.ts';

async function exists(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url });
  const failure = await client.connect().catch((error: unknown) => error);
  if (!failure) await client.end();
  return !failure;
}

test('a test database is migrated, isolated from others and removed when dropped', async () => {
  const [one, two] = await Promise.all([createTestDatabase(), createTestDatabase()]);
  await runStatements(one.url, ['create table only_here (id int)']);
  await expect(runStatements(two.url, ['select from only_here'])).rejects.toThrow('does not exist');
  const pool = new pg.Pool({ connectionString: two.url });
  expect(await pendingMigrations(pool)).toEqual([]);
  await pool.end();

  await one.drop();
  await two.drop();
  expect(await exists(one.url)).toBe(false);
});

test('rejects a database with foreign tables and leaves it unchanged', async () => {
  const { url, drop } = await createEmptyDatabase();
  await runStatements(url, ['create table customers (id int)']);
  await expect(claimServer(url)).rejects.toThrow(
    /contains 1 relations that the tests did not create.*TEST_DATABASE_URL/,
  );
  await drop();
});

test('claims an empty database once and accepts it afterwards, whatever it contains', async () => {
  const { url, drop } = await createEmptyDatabase();
  await claimServer(url);
  await runStatements(url, ['create table made_by_tests (id int)']);
  await expect(claimServer(url)).resolves.toBeUndefined();
  await drop();
});
