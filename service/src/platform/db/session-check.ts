import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import { ConfigError } from '../../kernel/config/config.ts';
import { type Listener, openListener } from './listen.ts';
import { openPool } from './pool.ts';

const ARRIVAL_TIMEOUT_MS = 2_000;
const PREPARED = { name: 'causeway_session_check', text: 'select 1' };

/**
 * Returns a check that throws if a notification sent through the pool does not reach the listener, or if a prepared
 * statement does not work. Both can happen behind a transaction pooler, such as PgBouncer in transaction mode.
 */
export async function createSessionCheck(pool: pg.Pool, listener: Listener): Promise<() => Promise<void>> {
  const channel = `session_check_${randomBytes(8).toString('hex')}`;
  const expected = new Map<string, () => void>();
  await listener.on(channel, (payload) => expected.get(payload)?.());
  return async () => {
    const payload = randomBytes(8).toString('hex');
    let timer: NodeJS.Timeout | undefined;
    const arrival = new Promise<void>((resolve, reject) => {
      expected.set(payload, resolve);
      timer = setTimeout(() => reject(new Error('a notification did not arrive')), ARRIVAL_TIMEOUT_MS);
    });
    try {
      await Promise.all([arrival, pool.query('select pg_notify($1, $2)', [channel, payload])]);
      await pool.query(PREPARED);
    } finally {
      clearTimeout(timer);
      expected.delete(payload);
    }
  };
}

/**
 * Throws `ConfigError` if prepared statements or notifications do not work through these URLs, for example because of a
 * transaction pooler. Call it before anything else uses the database: a session lock taken through such a pooler would
 * never be released.
 */
export async function assertSessions(databaseUrl: string, listenUrl: string): Promise<void> {
  const { pool, close } = openPool(databaseUrl, { max: 2 });
  try {
    await assertPreparedStatements(pool);
    await assertNotifications(pool, listenUrl);
  } catch (error) {
    if (/unsupported startup parameter/.test(String(error)))
      throw new ConfigError([
        'DATABASE_URL: PgBouncer rejects our startup parameters; set ignore_startup_parameters = statement_timeout,idle_in_transaction_session_timeout in its configuration',
      ]);
    throw error;
  } finally {
    await close();
  }
}

/**
 * Throws `ConfigError` if a transaction pooler breaks prepared statements. Such a pooler runs each transaction on any
 * free server connection, so a client may prepare a statement on one connection and later use it on another.
 */
async function assertPreparedStatements(pool: pg.Pool): Promise<void> {
  const [one, two] = await Promise.all([pool.connect(), pool.connect()]);
  try {
    await one.query(PREPARED);
    await two.query('begin');
    await two.query(PREPARED);
    await one.query(PREPARED);
  } catch (error) {
    // Behind a transaction pooler, the server connection lacks the statement (26000) or already has it (42P05).
    if (!/^(26000|42P05)$/.test(String((error as { code?: unknown }).code))) throw error;
    throw new ConfigError([
      'DATABASE_URL: prepared statements do not persist between transactions, which usually means PgBouncer in transaction mode; connect directly, or set max_prepared_statements in PgBouncer 1.21 or newer',
    ]);
  } finally {
    one.release(true);
    two.release(true);
  }
}

async function assertNotifications(pool: pg.Pool, listenUrl: string): Promise<void> {
  const listener = await openListener(listenUrl, () => undefined);
  try {
    const check = await createSessionCheck(pool, listener);
    await check();
  } catch {
    throw new ConfigError([
      'DATABASE_URL: notifications do not arrive, which usually means PgBouncer in transaction mode; connect directly, or set DATABASE_LISTEN_URL to a direct URL of the same database',
    ]);
  } finally {
    await listener.close();
  }
}
