import type { Db } from '../../platform/db/pool.ts';
import { writeNotice } from '../notices/notice.ts';
import { type LevelReview, saveReview } from './store.ts';

/** Stores a review (see `saveReview`), and tells the user of a new outcome that the user has to know. */
export async function recordReview(tx: Db, userId: string, review: LevelReview, asOf: string): Promise<void> {
  const { levelName, status, answer, rejectType, reviewedAt } = review;
  if (!(await saveReview(tx, userId, review, asOf))) return;
  if (status !== 'completed' && status !== 'awaitingUser') return;
  const rejected = rejectType === 'FINAL' ? 'review_rejected' : 'review_action_needed';
  const kind = answer === 'GREEN' ? 'review_approved' : rejected;
  const occurrence = `${levelName} ${new Date(reviewedAt ?? asOf).toISOString()}`;
  await writeNotice(tx, userId, kind, occurrence, { level: levelName });
}
