import type { Db } from '../db/pool.ts';
import { listForeign, markAdopted } from './watch-store.ts';

export type ForeignTransaction = { signature: string; address: string; participationId: string | null };

/**
 * Returns transactions that were signed with the funds' keys, that this service did not send and that no
 * operator has adopted.
 */
export function listForeignTransactions(db: Db, chain: string): Promise<ForeignTransaction[]> {
  return listForeign(db, chain);
}

/** Unblocks the participations that foreign transactions refer to. Returns how many transactions were adopted. */
export function adoptForeignTransactions(db: Db, chain: string): Promise<number> {
  return markAdopted(db, chain);
}
