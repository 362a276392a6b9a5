import { CompiledQuery, type Dialect, type Driver } from 'kysely';
import { quoteLiteral } from './quote.ts';

/** Names who caused a transaction, for the audit log. */
export type TransactionTags = { requestId: string; actor: { object: string; id: string } | null };

/**
 * Returns the dialect with transactions that carry the tags as settings, which triggers read. The settings are sent
 * together with `begin`, so a tagged transaction costs no further round trip.
 */
export function tagTransactions(dialect: Dialect, { requestId, actor }: TransactionTags): Dialect {
  const begin = [
    'begin',
    `set local causeway.request_id = ${quoteLiteral(requestId)}`,
    ...(actor === null ? [] : [`set local causeway.actor = ${quoteLiteral(JSON.stringify(actor))}`]),
  ].join('; ');
  return {
    createAdapter: () => dialect.createAdapter(),
    createIntrospector: (db) => dialect.createIntrospector(db),
    createQueryCompiler: () => dialect.createQueryCompiler(),
    createDriver: () => tagDriver(dialect.createDriver(), begin),
  };
}

function tagDriver(driver: Driver, begin: string): Driver {
  return {
    init: () => driver.init(),
    acquireConnection: () => driver.acquireConnection(),
    releaseConnection: (connection) => driver.releaseConnection(connection),
    beginTransaction: async (connection) => {
      await connection.executeQuery(CompiledQuery.raw(begin));
    },
    commitTransaction: (connection) => driver.commitTransaction(connection),
    rollbackTransaction: (connection) => driver.rollbackTransaction(connection),
    // The pool belongs to the untagged database.
    destroy: async () => undefined,
  };
}
