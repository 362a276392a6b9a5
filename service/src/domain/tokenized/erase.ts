import type { Db } from '../../platform/db/pool.ts';
import { hasTrades } from './order-list-store.ts';

/** Lists which data about orders is kept, for the erasure report. Trades are business records and are never erased. */
export async function eraseUser(tx: Db, userId: string): Promise<{ kept: string[] }> {
  if (!(await hasTrades(tx, userId))) return { kept: [] };
  return { kept: ['trades of tokenized assets: amounts, wallets, dates and outcomes'] };
}
