import type { Db } from '../../platform/db/pool.ts';
import { endApplicant } from './store.ts';

/**
 * Stops reading the applicant from the provider. Keeps the reviews, because the law requires this. `kept` describes the
 * data that stays.
 */
export async function eraseUser(
  tx: Db,
  userId: string,
): Promise<{ kept: string[]; applicantId: string | null }> {
  const { applicantId, isReviewed } = await endApplicant(tx, userId);
  const kept = isReviewed ? ['identification: levels, results, dates and the verified data'] : [];
  return { kept, applicantId };
}
