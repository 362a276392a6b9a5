import { CompiledQuery, type DatabaseConnection, type Dialect, type Kysely } from 'kysely';
import { quoteLiteral } from './quote.ts';
import type { Database } from './tables.ts';
import { wrapDriver } from './wrap-driver.ts';

/**
 * The statement that Kysely sends to commit a transaction. `statements.ts` intercepts this statement. Its parameters,
 * if any, are the `call` statements to send before the commit.
 */
export const COMMIT = 'commit';

type CommittingConnection = DatabaseConnection & { commitCalls?: string[] | undefined };

/**
 * Calls a procedure with one JSON argument at the end of the transaction, in the same round trip as the commit. The
 * other statements of the transaction therefore do not see what the procedure writes. If the call fails, the
 * transaction is rolled back. Outside a transaction, calls the procedure immediately.
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

/** Throws if the transaction has calls to make at its commit. */
export async function assertNoCommitCalls(tx: Kysely<Database>): Promise<void> {
  await tx.getExecutor().provideConnection(async ({ commitCalls }: CommittingConnection) => {
    if (commitCalls !== undefined) throw new Error('the transaction has calls to make at its commit');
  });
}

/** Returns the dialect with a driver that sends the queued calls of a transaction together with its commit. */
export function commitWithCalls(dialect: Dialect): Dialect {
  return wrapDriver(dialect, (driver) => ({
    commitTransaction: async (connection: CommittingConnection) => {
      const { commitCalls } = connection;
      if (commitCalls === undefined) return driver.commitTransaction(connection);
      connection.commitCalls = undefined;
      await connection.executeQuery(CompiledQuery.raw(COMMIT, commitCalls));
    },
    rollbackTransaction: async (connection: CommittingConnection) => {
      connection.commitCalls = undefined;
      await driver.rollbackTransaction(connection);
    },
    // Calls that come too late must not be made at the commit of another request's transaction.
    releaseConnection: (connection: CommittingConnection) => {
      connection.commitCalls = undefined;
      return driver.releaseConnection(connection);
    },
  }));
}
