/**
 * A running node holds the advisory lock (NODE_LOCK_CLASS, its number) on its listening connection; whoever
 * finds that lock free knows that the node is gone.
 */
export const NODE_LOCK_CLASS = 0x6361;

/** What takes the lock; `node` is a whole number of ours. */
export function nodeLockStatement(node: number): string {
  return `select pg_advisory_lock_shared(${NODE_LOCK_CLASS}, ${node})`;
}
