import type { Db } from '../db/pool.ts';
import { advanceKey } from './lease-store.ts';
import { findByNonce, insertMined, type MinedCall, markDisplaced } from './store.ts';
import type { TransactionKind } from './transaction.ts';

/**
 * Records a final transaction that was signed with our key but is missing from this database. Takes the lease, so that
 * no node sends a transaction that it signed earlier. Returns the open transaction in this database that has the same
 * nonce, because it can no longer be mined. Returns null if there is none. Throws if this database contains a mined
 * transaction of its own with the same nonce.
 */
export async function adoptMined(
  tx: Db,
  found: MinedCall,
): Promise<{ id: string; kind: TransactionKind } | null> {
  const key = { chain: found.chain, address: found.from };
  await advanceKey(tx, key, found.nonce + 1n);
  const own = await findByNonce(tx, key, found.nonce);
  const isOpen = own !== null && own.state !== 'displaced';
  if (isOpen && !(await markDisplaced(tx, own.id)))
    throw new Error(`nonce ${found.nonce} of ${found.from} was used by another transaction of ours`);
  await insertMined(tx, found);
  return isOpen ? own : null;
}
