import type { Db } from '../db/pool.ts';
import { advanceKey } from './lease-store.ts';
import { findByNonce, insertMined, type MinedCall, markDisplaced } from './store.ts';
import type { TransactionKind } from './transaction.ts';

/**
 * Records a transaction that was signed with our key and is final on the chain, but is missing from this database.
 * Takes the key's lease from its holder, so that the holder cannot send a transaction that it has already signed.
 *
 * If we have an open transaction with the same nonce, our transaction can no longer be mined: marks our transaction as
 * displaced and returns it. Otherwise returns null. Throws if this database says that another transaction with this
 * nonce was mined.
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
    throw new Error(`nonce ${found.nonce} of ${found.from} was already used by another of our transactions`);
  await insertMined(tx, found);
  return isOpen ? own : null;
}
