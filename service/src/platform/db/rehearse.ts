import { sql } from 'kysely';
import type { Db } from './pool.ts';

/**
 * Runs `work` in a transaction that is always rolled back. This lets a dry run apply all rules of the command without
 * changing anything. Transactions inside `work` become savepoints. Changed rows stay locked until the rollback.
 */
export async function rehearse<T>(db: Db, work: (db: Db) => Promise<T>): Promise<T> {
  const tx = await db.startTransaction().execute();
  try {
    return await work(nestTransactions(tx));
  } finally {
    await tx.rollback().execute();
  }
}

function nestTransactions(tx: Db): Db {
  const nested: Db = new Proxy(tx, {
    get: (target, name) => {
      if (name === 'transaction') return () => builder;
      const value = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  const builder = {
    setIsolationLevel: () => builder,
    execute: async <T>(work: (tx: Db) => Promise<T>): Promise<T> => {
      await sql`savepoint rehearsal`.execute(tx);
      try {
        return await work(nested);
      } catch (error) {
        await sql`rollback to savepoint rehearsal`.execute(tx);
        throw error;
      }
    },
  };
  return nested;
}
