import type pg from 'pg';

/**
 * A running node holds the advisory lock (NODE_LOCK_CLASS, its number) on its listening connection; whoever
 * finds that lock free knows that the node is gone.
 */
export const NODE_LOCK_CLASS = 0x6361;

export async function holdNodeLock(client: pg.Client, node: number): Promise<void> {
  await client.query('select pg_advisory_lock_shared($1, $2)', [NODE_LOCK_CLASS, node]);
}
