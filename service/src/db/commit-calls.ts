import { CompiledQuery, type DatabaseConnection, type Dialect, type Kysely } from 'kysely';
import { quoteLiteral } from './quote.ts';
import type { Database } from './tables.ts';
import { wrapDriver } from './wrap-driver.ts';

type CommittingConnection = DatabaseConnection & { commitCalls?: string[] };

/**
 * Calls a procedure with one JSON argument at the end of the transaction, in the same round trip as the commit. Outside
 * a transaction, calls it immediately. No other statement of the transaction sees the effect of the call. If the call
 * fails, the commit fails too.
 */
export async function callAtCommit(
  db: Kysely<Database>,
  procedure: 'append_events',
  argument: readonly object[],
): Promise<void> {
  const call = `call ${procedure}(${quoteLiteral(JSON.stringify(argument))})`;
  await db.getExecutor().provideConnection(async (connection: CommittingConnection) => {
    if (db.isTransaction) {
      connection.commitCalls ??= [];
      connection.commitCalls.push(call);
    } else await connection.executeQuery(CompiledQuery.raw(call));
  });
}

/** Returns the dialect with a driver that sends the calls of a transaction together with its commit. */
export function commitWithCalls(dialect: Dialect): Dialect {
  return wrapDriver(dialect, (driver) => ({
    commitTransaction: async (connection: CommittingConnection) => {
      const { commitCalls } = connection;
      if (commitCalls === undefined) return driver.commitTransaction(connection);
      delete connection.commitCalls;
      // If a call fails, PostgreSQL skips the rest of the text, including the commit, and the transaction is
      // rolled back.
      await connection.executeQuery(CompiledQuery.raw([...commitCalls, 'commit'].join('; ')));
    },
    rollbackTransaction: async (connection: CommittingConnection) => {
      delete connection.commitCalls;
      await driver.rollbackTransaction(connection);
    },
  }));
}
