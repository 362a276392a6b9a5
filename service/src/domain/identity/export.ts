import type { Db } from '../../platform/db/pool.ts';
import { listReviewsOf } from './store.ts';

/** Returns the outcomes of the user's identity checks, without the provider's internal states and reasons. */
export async function exportUser(db: Db, userId: string) {
  const reviews = await listReviewsOf(db, userId);
  return reviews.map(({ level_name, review_status, answer, reviewed_at }) => ({
    level: level_name,
    status: statusOf(review_status, answer),
    reviewed_at,
  }));
}

function statusOf(reviewStatus: string, answer: string | null): string {
  if (reviewStatus === 'init') return 'not_submitted';
  if (reviewStatus !== 'completed') return 'in_review';
  return answer === 'GREEN' ? 'approved' : 'not_approved';
}
