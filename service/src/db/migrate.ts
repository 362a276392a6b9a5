import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';

const ownFolder = fileURLToPath(new URL('./migrations', import.meta.url));
const fileName = /^(\d{4})_[a-z0-9_]+\.sql$/;
// The body of a function begins with `begin` too, but without a semicolon after it.
const ownTransaction =
  /^\s*(begin(\s+(work|transaction|isolation|read)\b[^;]{0,40})?|(start\s+transaction|commit|rollback)\b[^;]{0,40})\s*;/im;
// Any number will do, as long as it never changes: nodes of two versions must meet at the same lock.
const lockKey = '5127403916458021';

interface Migration {
  name: string;
  sha256: string;
  sql: string;
}

/** Brings the schema up to date and returns the names it applied. Any number of nodes may call it at once. */
export async function migrate(pool: pg.Pool, folder: string = ownFolder): Promise<string[]> {
  const migrations = await readMigrations(folder);
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    // Waiting for another node's migration, and a migration itself, may take longer than any statement should.
    await client.query(
      'set statement_timeout = 0; set lock_timeout = 0; set idle_in_transaction_session_timeout = 0',
    );
    await client.query(patiently('select pg_advisory_lock($1)', [lockKey]));
    await client.query(
      `create table if not exists schema_migrations (
        name text primary key, sha256 text not null, applied_at timestamptz not null default clock_timestamp())`,
    );
    const pending = findPending(migrations, await readApplied(client));
    for (const migration of pending) await applyMigration(client, migration);
    return pending.map(({ name }) => name);
  } catch (error) {
    broken = error instanceof Error ? error : new Error(String(error));
    throw broken;
  } finally {
    // The connection carries our settings and the lock: ending it is the one way to give both back for sure.
    client.release(broken ?? true);
  }
}

/** The migrations that the database lacks, for nodes that do not migrate by themselves. Changes nothing. */
export async function pendingMigrations(pool: pg.Pool, folder: string = ownFolder): Promise<string[]> {
  const migrations = await readMigrations(folder);
  const { rows } = await pool.query<{ known: boolean }>(
    `select to_regclass('schema_migrations') is not null as known`,
  );
  const applied = rows[0]?.known ? await readApplied(pool) : new Map<string, string>();
  return findPending(migrations, applied).map(({ name }) => name);
}

/** Past the time limit that the pool sets on its own side of every query. */
function patiently(text: string, values?: string[]) {
  const unlimited = { text, query_timeout: 2 ** 31 - 1 };
  return values ? { ...unlimited, values } : unlimited;
}

async function readMigrations(folder: string): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort();
  const seen = new Map<string, string>();
  for (const name of names) {
    const number = fileName.exec(name)?.[1];
    if (!number) throw new Error(`${name}: a migration is named NNNN_words_in_lower_case.sql`);
    const twin = seen.get(number);
    if (twin) throw new Error(`${twin} and ${name} have the same number`);
    seen.set(number, name);
  }
  return Promise.all(
    names.map(async (name) => {
      const sql = await readFile(join(folder, name), 'utf8');
      if (ownTransaction.test(sql))
        throw new Error(`${name}: a migration runs in one transaction, which is not its own`);
      return { name, sql, sha256: createHash('sha256').update(sql).digest('hex') };
    }),
  );
}

async function readApplied(client: pg.Pool | pg.PoolClient): Promise<Map<string, string>> {
  const { rows } = await client.query<{ name: string; sha256: string }>(
    'select name, sha256 from schema_migrations',
  );
  return new Map(rows.map(({ name, sha256 }) => [name, sha256]));
}

function findPending(migrations: Migration[], applied: Map<string, string>): Migration[] {
  // A database ahead of the code belongs to a newer node of a rolling update and is left alone.
  const last = [...applied.keys()].sort().at(-1) ?? '';
  return migrations.filter(({ name, sha256 }) => {
    const known = applied.get(name);
    if (known !== undefined && known !== sha256)
      throw new Error(
        `${name} was changed after it had been applied: put it back and add a new migration instead`,
      );
    if (known === undefined && name < last)
      throw new Error(`${name} comes before ${last}, which is already applied: give it a higher number`);
    return known === undefined;
  });
}

async function applyMigration(client: pg.PoolClient, { name, sha256, sql }: Migration): Promise<void> {
  try {
    await client.query('begin');
    await client.query(patiently(sql));
    const { rowCount } = await client.query('insert into schema_migrations (name, sha256) values ($1, $2)', [
      name,
      sha256,
    ]);
    if (rowCount !== 1) throw new Error('the record was not written');
    await client.query('commit');
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    const said = error instanceof Error ? error.message : String(error);
    throw new Error(`${name} failed and left nothing behind: ${said}`, { cause: error });
  }
}
