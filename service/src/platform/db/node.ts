import { type RawBuilder, sql } from 'kysely';

/**
 * The class of the locks that show which nodes are running. Each node holds the shared advisory lock (NODE_LOCK_CLASS,
 * node id) on its listening connection. PostgreSQL releases the lock as soon as the node is gone.
 */
export const NODE_LOCK_CLASS = 0x6361;

/**
 * Returns the statement that takes the lock of `node`. The id becomes part of the statement's text, so the id must be
 * an integer.
 */
export function nodeLockStatement(node: number): string {
  return `select pg_advisory_lock_shared(${NODE_LOCK_CLASS}, ${node})`;
}

/**
 * Returns an SQL condition: whether the node whose id is in `column` is running. `column` becomes part of the text, so it
 * must not come from a caller of the API.
 */
export function nodeIsAlive(column: string): RawBuilder<boolean> {
  return sql.raw(`exists (select from pg_locks where locktype = 'advisory' and classid = ${NODE_LOCK_CLASS}
    and objid = ${column}::oid and granted
    and database = (select oid from pg_database where datname = current_database()))`);
}
