import type { OperatorAccount } from './account.ts';
import { Blocked } from './blocked.ts';
import { type Lease, withLease } from './lease.ts';
import { raiseSeenNonce } from './lease-store.ts';
import { readPendingNonce } from './nonces.ts';

/**
 * Throws `Blocked` if a chain node knows of transactions by the key, mined or pending, that are missing from this
 * database. The database was then probably restored from an old copy or a lagging replica. Signing would reuse nonces
 * or pay for participations a second time.
 *
 * Stores the node's transaction count, because the node that answers next time may not know about the pending
 * transactions. Only an operator can clear the stored count.
 */
export async function assertNonceUnused(account: OperatorAccount, lease: Lease, next: bigint): Promise<void> {
  assertNotSeen(lease, next);
  const count = await readPendingNonce(account);
  if (count <= next) return;
  await withLease(account.db, lease, (tx) => raiseSeenNonce(tx, lease, count));
  lease.seenNonce = count;
  assertNotSeen(lease, next);
}

/** Throws `Blocked` if an earlier check found transactions by the key that are missing from this database. */
export function assertNotSeen({ chain, address, seenNonce }: Lease, next: bigint | null): void {
  if (seenNonce === null || next === null || seenNonce <= next) return;
  throw new Blocked(
    'foreign_nonce',
    `${chain} nodes have seen ${seenNonce} transactions from ${address}, but our next nonce is ${next}; compare the fund with the database, then run "causeway operator adopt"`,
  );
}
