import type { Db } from '../../platform/db/pool.ts';
import { hasParticipations } from '../holdings/participation-store.ts';

/**
 * Erases nothing: participations are business records. Only lists, for the erasure report, which data about them is
 * kept.
 */
export async function eraseUser(tx: Db, userId: string): Promise<{ kept: string[] }> {
  if (!(await hasParticipations(tx, userId))) return { kept: [] };
  return { kept: ['investments: amounts, wallets, dates and outcomes'] };
}
