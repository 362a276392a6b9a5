import type { Db } from '../db/pool.ts';
import { hasParticipations } from './store.ts';

/**
 * Lists which data about participations is kept, for the erasure report. Participations are business records and are
 * never erased.
 */
export async function eraseUser(tx: Db, userId: string): Promise<{ kept: string[] }> {
  if (!(await hasParticipations(tx, userId))) return { kept: [] };
  return { kept: ['investments: amounts, wallets, dates and outcomes'] };
}
