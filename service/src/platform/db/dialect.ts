import { hash } from 'node:crypto';
import {
  CompiledQuery,
  type Dialect,
  type Driver,
  PostgresAdapter,
  PostgresDriver,
  PostgresIntrospector,
  type PostgresPool,
  type PostgresPoolClient,
  PostgresQueryCompiler,
} from 'kysely';
import pg from 'pg';
import type { FairQueue } from '../../kernel/fair-queue.ts';
import type { Notifier } from './notify.ts';

// The text of some queries varies, for example with their filters. Without a limit, the plans of these queries would
// fill the database server's memory.
const MAX_NAMED_STATEMENTS = 1_000;
// Statements with a longer text get no name. They are bulk statements, whose text depends on the number of rows, so
// they are rarely repeated.
const MAX_NAMED_LENGTH = 8_000;

/** The request and the actor that caused a transaction, for the audit log. */
export type TransactionTags = { requestId: string; actor: { object: string; id: string } | null };

/**
 * Returns a function that returns dialects. Their transactions send their notifications after the commit, and carry the
 * tags, if any, as PostgreSQL settings, which database triggers read. Every request has a dialect, so the dialects share
 * a driver, which makes them cheap.
 */
export function shareDialect(pool: PostgresPool, notifier: Notifier): (tags?: TransactionTags) => Dialect {
  const adapter = new PostgresAdapter();
  const compiler = new PostgresQueryCompiler();
  const driver: Driver = new PostgresDriver({ pool });
  const base: Omit<Driver, 'beginTransaction'> = {
    init: () => driver.init(),
    acquireConnection: () => driver.acquireConnection(),
    releaseConnection: (connection) => driver.releaseConnection(connection),
    rollbackTransaction: (connection) => driver.rollbackTransaction(connection),
    commitTransaction: async (connection) => {
      await driver.commitTransaction(connection);
      notifier.send(connection);
    },
    destroy: () => driver.destroy(),
  };
  return (tags) => ({
    createAdapter: () => adapter,
    createQueryCompiler: () => compiler,
    createIntrospector: (db) => new PostgresIntrospector(db),
    createDriver: () => ({
      ...base,
      // One text without parameters needs one round trip.
      beginTransaction: async (connection, { isolationLevel, accessMode }) => {
        const modes = [isolationLevel && `isolation level ${isolationLevel}`, accessMode];
        const begin = ['begin', ...modes.filter((mode) => mode !== undefined)].join(' ');
        await connection.executeQuery(CompiledQuery.raw([begin, ...settingsOf(tags)].join('; ')));
      },
    }),
  });
}

function settingsOf(tags: TransactionTags | undefined): string[] {
  if (tags === undefined) return [];
  const settings = [`set local causeway.request_id = ${pg.escapeLiteral(tags.requestId)}`];
  if (tags.actor !== null)
    settings.push(`set local causeway.actor = ${pg.escapeLiteral(JSON.stringify(tags.actor))}`);
  return settings;
}

/** The result of a statement that was not sent. */
const NO_ROWS = { command: '', rowCount: null, rows: [] };

/** The names of the statements that a connection has prepared, by text. */
type Names = Map<string, string>;

/**
 * Wraps the pool for Kysely. Statements wait for a connection in the queue of their lane. Each distinct statement gets
 * a name, so that a connection prepares it only once. After `MAX_NAMED_STATEMENTS` names, the connection is closed.
 */
export function createStatementPool(pool: pg.Pool, queue: FairQueue): (lane: string) => PostgresPool {
  const namesOf = new WeakMap<pg.PoolClient, Names>();
  const connect = async (lane: string) => {
    const leave = await queue.take(lane);
    try {
      const client = await pool.connect();
      const names = namesOf.get(client) ?? new Map();
      namesOf.set(client, names);
      return leaseConnection(client, names, leave);
    } catch (error) {
      leave();
      throw error;
    }
  };
  // `OpenPool.close` ends the pool, which all lanes share.
  return (lane) => ({ connect: () => connect(lane), end: async () => undefined });
}

/**
 * Returns a connection for one statement or one transaction. On release, closes it instead of keeping it if it may not
 * work as expected, or if it is still in a transaction.
 */
function leaseConnection(client: pg.PoolClient, names: Names, leave: () => void): PostgresPoolClient {
  let isBroken = false;
  let hasEnded = false;
  const query = async (text: string, values: readonly unknown[]) => {
    const isRollback = text === 'rollback';
    // A statement that the transaction's callback did not wait for must not run after the transaction has ended.
    if (hasEnded && !isRollback) throw new Error('the transaction that this statement belongs to has ended');
    hasEnded ||= isRollback || text === 'commit';
    // Closing the connection rolls the transaction back.
    if (isBroken && isRollback) return NO_ROWS;
    const statement = { name: nameStatement(names, text), text, values: [...values] };
    try {
      const result = await client.query(statement);
      // PostgreSQL rolls back if a statement has failed, even if its error was ignored.
      if (text === 'commit' && result.command === 'ROLLBACK')
        throw new Error('the transaction was rolled back, because one of its statements had failed');
      return result;
    } catch (error) {
      isBroken ||= !isUsableAfter(error);
      throw error;
    }
  };
  return {
    // The other overload is for cursors, which we do not use.
    query: query as unknown as PostgresPoolClient['query'],
    release: () => {
      hasEnded = true;
      const isIdle = client.getTransactionStatus() === 'I';
      client.release(isBroken || !isIdle || names.size >= MAX_NAMED_STATEMENTS);
      leave();
    },
  };
}

/**
 * Returns whether the connection can be used after the error. It cannot unless the server has answered: after a
 * timeout, for example, the statement still occupies the connection. A plan that a migration has invalidated stays
 * invalid on the connection.
 */
function isUsableAfter(error: unknown): boolean {
  return error instanceof pg.DatabaseError && !/cached plan must not change/.test(error.message);
}

function nameStatement(names: Names, text: string): string | undefined {
  const known = names.get(text);
  if (known !== undefined || names.size >= MAX_NAMED_STATEMENTS) return known;
  if (text.length > MAX_NAMED_LENGTH || !/^\s*(select|insert|update|delete|merge|with)\b/i.test(text))
    return undefined;
  const name = hash('sha256', text).slice(0, 32);
  names.set(text, name);
  return name;
}
