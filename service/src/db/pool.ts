import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { columnTypes } from './column-types.ts';
import { nameStatements } from './statements.ts';
import type { Database } from './tables.ts';

export interface PoolOptions {
  /** Connections at most; 10 unless told. */
  max?: number;
  /** Shown in `pg_stat_activity`. */
  applicationName?: string;
  /** How long one statement may take; 10 s unless told. */
  statementTimeoutMs?: number;
  /** How long to wait for a connection, the pool's queue included; 5 s unless told. */
  connectionTimeoutMs?: number;
  log?: (message: string) => void;
}

/** The database, or a transaction on it. */
export type Db = Kysely<Database>;

export interface OpenPool {
  /** For statements written by hand, LISTEN aside (`listen.ts`). */
  pool: pg.Pool;
  db: Db;
  close(): Promise<void>;
}

export function openPool(url: string, options: PoolOptions = {}): OpenPool {
  const statementTimeout = options.statementTimeoutMs ?? 10_000;
  const pool = new pg.Pool({
    connectionString: url,
    max: options.max ?? 10,
    application_name: options.applicationName ?? 'causeway',
    connectionTimeoutMillis: options.connectionTimeoutMs ?? 5_000,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    statement_timeout: statementTimeout,
    idle_in_transaction_session_timeout: 2 * statementTimeout,
    // The server ends a statement first; this one is for a server that has become silent.
    query_timeout: statementTimeout + 5_000,
    types: columnTypes,
    onConnect: prepareSession,
  });
  // Without a listener a connection lost while idle would end the process. The pool replaces it by itself.
  pool.on('error', (error) => options.log?.(`a database connection was lost: ${error.message}`));
  // The same for one that is lost between two statements of a transaction: the next statement fails, and that is told.
  pool.on('connect', (client) => void client.on('error', () => undefined));
  const db = new Kysely<Database>({ dialect: new PostgresDialect({ pool: nameStatements(pool) }) });
  let closing: Promise<void> | undefined;
  return {
    pool,
    db,
    close() {
      closing ??= pool.end();
      return closing;
    },
  };
}

/** What `column-types.ts` relies on, whatever the server or the role has as its default. */
async function prepareSession(client: pg.ClientBase): Promise<void> {
  await client.query(`set timezone = 'UTC'; set datestyle = 'ISO'`);
}
