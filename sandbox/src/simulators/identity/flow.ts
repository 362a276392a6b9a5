import type { Applicant, ReviewStatus, Token } from './applicant.ts';
import type { Applicants } from './applicants.ts';

/** Statuses in which a reviewer is working on the applicant and the applicant cannot change anything. */
const UNDER_REVIEW: ReviewStatus[] = ['pending', 'queued', 'prechecked', 'onHold'];

export function isUnderReview({ reviewStatus }: Applicant): boolean {
  return UNDER_REVIEW.includes(reviewStatus);
}

/**
 * Creates the applicant on first use. Moves an existing applicant to the token's level, unless a review is in
 * progress.
 */
export async function openFlow(
  applicants: Applicants,
  { userId, levelName, email }: Pick<Token, 'userId' | 'levelName' | 'email'>,
  type: Applicant['type'],
): Promise<Applicant> {
  const existing = applicants.findByUser(userId);
  if (existing === undefined) {
    const { applicant, notified } = applicants.create({
      externalUserId: userId,
      type,
      levelName,
      ...(email !== undefined && { email }),
    });
    await notified;
    return applicant;
  }
  if (existing.levelName !== levelName && !isUnderReview(existing))
    await applicants.changeLevel(existing, levelName);
  return existing;
}
