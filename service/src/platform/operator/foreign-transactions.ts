import type { Db } from '../db/pool.ts';
import { type ForeignTransaction, listForeign, markAdopted } from './watch-store.ts';

export type { ForeignTransaction };

/**
 * Returns the foreign transactions that no operator has adopted yet. A foreign transaction was signed with one of a
 * fund's keys, but not sent by this service.
 */
export function listForeignTransactions(db: Db, chain: string): Promise<ForeignTransaction[]> {
  return listForeign(db, chain);
}

/**
 * Marks the foreign transactions as adopted, and returns them. Settlement then continues with the participations that
 * these transactions refer to, and pays each participation unless a receipt shows that the participation was paid.
 */
export function adoptForeignTransactions(db: Db, chain: string): Promise<ForeignTransaction[]> {
  return markAdopted(db, chain);
}
