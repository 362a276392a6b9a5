import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';

const MIGRATIONS_FOLDER = fileURLToPath(new URL('./migrations', import.meta.url));
const FILE_NAME = /^(\d{4})_[a-z0-9_]+\.sql$/;
// Matches statements that control transactions. A function body also starts with `begin`, but without a semicolon after
// it.
const TRANSACTION_STATEMENT =
  /^\s*(begin(\s+(work|transaction|isolation|read)\b[^;]{0,40})?|(start\s+transaction|commit|rollback)\b[^;]{0,40})\s*;/im;
// Must never change: nodes of different versions must use the same lock.
const LOCK_KEY = '5127403916458021';

const LOCK_TIMEOUT_MS = 2_000;
const LOCK_PAUSE_MS = 1_000;
const LOCK_ATTEMPTS = 100;
const LOCK_NOT_AVAILABLE = '55P03';

interface Migration {
  name: string;
  sha256: string;
  sql: string;
}

/** Applies pending migrations and returns their names. Any number of nodes may call it concurrently. */
export async function migrate(pool: pg.Pool, folder: string = MIGRATIONS_FOLDER): Promise<string[]> {
  const migrations = await readMigrations(folder);
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    // Turns off the timeouts, because a migration can take longer than any other statement, and this node may have to
    // wait for another node's migration.
    await client.query(
      'set statement_timeout = 0; set lock_timeout = 0; set idle_in_transaction_session_timeout = 0',
    );
    await client.query(withoutTimeout('select pg_advisory_lock($1)', [LOCK_KEY]));
    await client.query(
      `create table if not exists schema_migrations (
        name text primary key, sha256 text not null, applied_at timestamptz not null default clock_timestamp())`,
    );
    await client.query(`set lock_timeout = '${LOCK_TIMEOUT_MS}ms'`);
    const pending = findPending(migrations, await readApplied(client));
    for (const migration of pending) await applyWithPatience(client, migration);
    return pending.map(({ name }) => name);
  } catch (error) {
    broken = error instanceof Error ? error : new Error(String(error));
    throw broken;
  } finally {
    // Closes the connection instead of returning it to the pool. Closing it reliably releases the lock and discards our
    // session settings.
    client.release(broken ?? true);
  }
}

/** Returns the names of pending migrations without applying them. */
export async function pendingMigrations(
  pool: pg.Pool,
  folder: string = MIGRATIONS_FOLDER,
): Promise<string[]> {
  const migrations = await readMigrations(folder);
  const { rows } = await pool.query<{ known: boolean }>(
    `select to_regclass('schema_migrations') is not null as known`,
  );
  const applied = rows[0]?.known ? await readApplied(pool) : new Map<string, string>();
  return findPending(migrations, applied).map(({ name }) => name);
}

/** Returns a query that is exempt from the pool's client-side query timeout. */
function withoutTimeout(text: string, values?: string[]) {
  const unlimited = { text, query_timeout: 2 ** 31 - 1 };
  return values ? { ...unlimited, values } : unlimited;
}

async function readMigrations(folder: string): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort();
  const seen = new Map<string, string>();
  for (const name of names) {
    const number = FILE_NAME.exec(name)?.[1];
    if (!number) throw new Error(`${name}: migrations must be named NNNN_words_in_lower_case.sql`);
    const other = seen.get(number);
    if (other) throw new Error(`${other} and ${name} have the same number`);
    seen.set(number, name);
  }
  return Promise.all(
    names.map(async (name) => {
      const sql = await readFile(join(folder, name), 'utf8');
      if (TRANSACTION_STATEMENT.test(sql))
        throw new Error(
          `${name}: a migration must not control transactions; it already runs in a transaction`,
        );
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
  // During a rolling update, `last` may be a migration that a newer node has applied and this version lacks.
  const last = [...applied.keys()].sort().at(-1) ?? '';
  return migrations.filter(({ name, sha256 }) => {
    const known = applied.get(name);
    if (known !== undefined && known !== sha256)
      throw new Error(
        `${name} was changed after it was applied. Restore it and add a new migration instead.`,
      );
    if (known === undefined && name < last)
      throw new Error(
        `${name} comes before ${last}, which is already applied. Give ${name} a higher number.`,
      );
    return known === undefined;
  });
}

/**
 * Applies a migration. If a table that it must lock stays in use, gives up waiting and tries again later. While a
 * migration waits for the lock, all other queries on the table queue behind the migration, so it must not wait for
 * long.
 */
async function applyWithPatience(client: pg.PoolClient, migration: Migration): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await applyMigration(client, migration);
    } catch (error) {
      const { cause } = error as { cause?: { code?: unknown } };
      if (cause?.code !== LOCK_NOT_AVAILABLE || attempt === LOCK_ATTEMPTS) throw error;
    }
    await sleep(LOCK_PAUSE_MS);
  }
}

async function applyMigration(client: pg.PoolClient, { name, sha256, sql }: Migration): Promise<void> {
  try {
    await client.query('begin');
    await client.query(withoutTimeout(sql));
    const { rowCount } = await client.query('insert into schema_migrations (name, sha256) values ($1, $2)', [
      name,
      sha256,
    ]);
    if (rowCount !== 1) throw new Error('the migration was not recorded');
    await client.query('commit');
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`${name} failed and was rolled back: ${reason}`, { cause: error });
  }
}
