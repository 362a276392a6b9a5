import {
  CompiledQuery,
  type Dialect,
  type Driver,
  PostgresAdapter,
  PostgresDriver,
  PostgresIntrospector,
  type PostgresPool,
  PostgresQueryCompiler,
} from 'kysely';
import pg from 'pg';
import type { Notifier } from './notify.ts';

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
