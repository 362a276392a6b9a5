import type { Db } from '../db/pool.ts';
import { listForeign, markAdopted } from './watch-store.ts';

export type ForeignTransaction = { signature: string; address: string; participationId: string | null };

/**
 * Returns the foreign transactions that no operator has adopted yet. A foreign transaction was signed with one of a
 * fund's keys, but not sent by this service.
 */
export function listForeignTransactions(db: Db, chain: string): Promise<ForeignTransaction[]> {
  return listForeign(db, chain);
}

/**
 * Marks the foreign transactions as adopted, which unblocks the participations that they refer to. Returns how many
 * transactions were adopted.
 */
export function adoptForeignTransactions(db: Db, chain: string): Promise<number> {
  return markAdopted(db, chain);
}
