import type { Db } from '../db/pool.ts';
import { hasParticipations } from './store.ts';

/** Keeps every participation as a business record and returns the reason for the erasure report. */
export async function eraseUser(tx: Db, userId: string): Promise<{ kept: string[] }> {
  if (!(await hasParticipations(tx, userId))) return { kept: [] };
  return { kept: ['investments: amounts, wallets, dates and outcomes'] };
}
