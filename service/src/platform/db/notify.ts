import { CompiledQuery, type DatabaseConnection, type Kysely } from 'kysely';
import type pg from 'pg';
import type { Database } from './tables.ts';

/** A channel and a payload. */
type Notification = readonly [string, string];

/** A connection with the notifications to send once its transaction has committed. */
type NotifyingConnection = DatabaseConnection & { notifications?: Map<string, Notification> };

/**
 * Notifies the listeners of a channel once the transaction has committed. Outside a transaction, notifies them
 * immediately. NOTIFY does not run inside the transaction: if it did, PostgreSQL would hold a global lock until the
 * commit is on disk, so transactions would commit one at a time. A crash right after the commit loses the notification,
 * so every listener must also poll.
 */
export async function notifyAfterCommit(db: Kysely<Database>, channel: string, payload = ''): Promise<void> {
  await db.getExecutor().provideConnection(async (connection: NotifyingConnection) => {
    if (db.isTransaction) {
      connection.notifications ??= new Map();
      connection.notifications.set(`${channel} ${payload}`, [channel, payload]);
    } else await connection.executeQuery(CompiledQuery.raw(NOTIFY, [toJson([[channel, payload]])]));
  });
}

/** Sends the notifications of committed transactions. */
export type Notifier = {
  /** Sends the notifications of the transaction that the connection has just committed. */
  send(connection: DatabaseConnection): void;
  /** Waits until everything has been sent. */
  idle(): Promise<void>;
};

/**
 * Returns a notifier. While one statement is running, the notifier collects further notifications, and then sends all
 * of them in the next statement. Notifications are therefore cheap on a busy node.
 */
export function createNotifier(pool: Pick<pg.Pool, 'query'>): Notifier {
  const waiting = new Map<string, Notification>();
  let sending: Promise<void> | null = null;
  const sendAll = async (): Promise<void> => {
    while (waiting.size > 0) {
      const batch = [...waiting.values()];
      waiting.clear();
      // Ignores a failed notification: the changes are committed, and every listener polls.
      await pool.query(NOTIFY, [toJson(batch)]).catch(() => undefined);
    }
    sending = null;
  };
  return {
    send: ({ notifications }: NotifyingConnection) => {
      if (notifications === undefined) return;
      for (const [key, notification] of notifications) waiting.set(key, notification);
      sending ??= sendAll();
    },
    idle: async () => sending ?? undefined,
  };
}

const NOTIFY =
  'select pg_notify(channel, payload) from json_to_recordset($1) as n (channel text, payload text)';

function toJson(notifications: readonly Notification[]): string {
  return JSON.stringify(notifications.map(([channel, payload]) => ({ channel, payload })));
}
