import { CompiledQuery, type DatabaseConnection, type Dialect, type Driver, type Kysely } from 'kysely';
import type { Database } from './tables.ts';

/** The channels and payloads to notify once the connection's transaction has committed. */
type NotifyingConnection = DatabaseConnection & { notifications?: Map<string, [string, string]> };

/**
 * Notifies the listeners of a channel once the transaction has committed, or immediately outside a transaction. NOTIFY
 * in the transaction itself would make all commits wait for each other's write to disk. A crash between the commit and
 * the notification loses the notification, so every listener must poll too.
 */
export async function notifyAfterCommit(db: Kysely<Database>, channel: string, payload = ''): Promise<void> {
  await db.getExecutor().provideConnection(async (connection: NotifyingConnection) => {
    if (!db.isTransaction) return notify(connection, [[channel, payload]]);
    connection.notifications ??= new Map();
    connection.notifications.set(`${channel} ${payload}`, [channel, payload]);
  });
}

/** Returns the dialect with a driver that sends the notifications of a transaction after its commit. */
export function notifyOnCommit(dialect: Dialect): Dialect {
  return {
    createAdapter: () => dialect.createAdapter(),
    createIntrospector: (db) => dialect.createIntrospector(db),
    createQueryCompiler: () => dialect.createQueryCompiler(),
    createDriver: () => notifyingDriver(dialect.createDriver()),
  };
}

function notifyingDriver(driver: Driver): Driver {
  return {
    init: () => driver.init(),
    acquireConnection: () => driver.acquireConnection(),
    releaseConnection: (connection) => driver.releaseConnection(connection),
    beginTransaction: (connection, settings) => driver.beginTransaction(connection, settings),
    commitTransaction: async (connection: NotifyingConnection) => {
      await driver.commitTransaction(connection);
      const { notifications } = connection;
      if (notifications === undefined) return;
      delete connection.notifications;
      // The change is committed, so a failed notification must not be reported as a failed transaction.
      await notify(connection, [...notifications.values()]).catch(() => undefined);
    },
    rollbackTransaction: async (connection: NotifyingConnection) => {
      delete connection.notifications;
      await driver.rollbackTransaction(connection);
    },
    destroy: () => driver.destroy(),
  };
}

async function notify(
  connection: DatabaseConnection,
  notifications: readonly [string, string][],
): Promise<void> {
  const text =
    'select pg_notify(channel, payload) from json_to_recordset($1) as n (channel text, payload text)';
  const rows = notifications.map(([channel, payload]) => ({ channel, payload }));
  await connection.executeQuery(CompiledQuery.raw(text, [JSON.stringify(rows)]));
}
