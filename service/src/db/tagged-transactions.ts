import { CompiledQuery, type Dialect } from 'kysely';
import { quoteLiteral } from './quote.ts';
import { wrapDriver } from './wrap-driver.ts';

/** The request and the actor that caused a transaction, for the audit log. */
export type TransactionTags = { requestId: string; actor: { object: string; id: string } | null };

/**
 * Returns a dialect whose transactions carry the tags as PostgreSQL settings. Database triggers read these settings.
 * The settings are sent together with `begin`, so the tags cost no extra round trip.
 */
export function tagTransactions(dialect: Dialect, { requestId, actor }: TransactionTags): Dialect {
  const begin = [
    'begin',
    `set local causeway.request_id = ${quoteLiteral(requestId)}`,
    ...(actor === null ? [] : [`set local causeway.actor = ${quoteLiteral(JSON.stringify(actor))}`]),
  ].join('; ');
  return wrapDriver(dialect, () => ({
    beginTransaction: async (connection) => {
      await connection.executeQuery(CompiledQuery.raw(begin));
    },
    // Leaves the pool open, because it belongs to the untagged database.
    destroy: async () => undefined,
  }));
}
