import { CompiledQuery, type Dialect, PostgresDialect, PostgresDriver, type PostgresPool } from 'kysely';
import pg from 'pg';
import type { Notifier } from './notify.ts';

/** The request and the actor that caused a transaction, for the audit log. */
export type TransactionTags = { requestId: string; actor: { object: string; id: string } | null };

/**
 * Returns a dialect whose transactions send their notifications after the commit. They carry the tags, if any, as
 * PostgreSQL settings, which database triggers read.
 */
export function createDialect(pool: PostgresPool, notifier: Notifier, tags?: TransactionTags): Dialect {
  const createDriver = () => {
    const driver = new PostgresDriver({ pool });
    const commit = driver.commitTransaction.bind(driver);
    const replacements: Pick<PostgresDriver, 'beginTransaction' | 'commitTransaction'> = {
      // One text without parameters needs one round trip.
      beginTransaction: async (connection, { isolationLevel, accessMode }) => {
        const modes = [isolationLevel && `isolation level ${isolationLevel}`, accessMode];
        const begin = ['begin', ...modes.filter((mode) => mode !== undefined)].join(' ');
        await connection.executeQuery(CompiledQuery.raw([begin, ...settingsOf(tags)].join('; ')));
      },
      commitTransaction: async (connection) => {
        await commit(connection);
        notifier.send(connection);
      },
    };
    return Object.assign(driver, replacements);
  };
  return Object.assign(new PostgresDialect({ pool }), { createDriver });
}

function settingsOf(tags: TransactionTags | undefined): string[] {
  if (tags === undefined) return [];
  const settings = [`set local causeway.request_id = ${pg.escapeLiteral(tags.requestId)}`];
  if (tags.actor !== null)
    settings.push(`set local causeway.actor = ${pg.escapeLiteral(JSON.stringify(tags.actor))}`);
  return settings;
}
