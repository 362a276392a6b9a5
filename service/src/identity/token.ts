import type { Static } from 'typebox';
import { findUser } from '../accounts/user.ts';
import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import type { UserCaller } from '../http/access.ts';
import { timestampOf } from '../http/wire.ts';
import { type Applicant, LEVELS, type Level, type Review, UNDER_REVIEW } from './provider.ts';
import type { KycToken, NewKycToken } from './schema.ts';
import { expectApplicant, findReview, lockApplicant, markDue, saveReview } from './store.ts';

/** A token for the identity provider's flow. With `reset` the applicant starts over, unless the provider is at work or has decided for good. */
export async function createKycToken(
  ctx: Context,
  { userId }: UserCaller,
  { level_name: level = 'Sorting_KYC_Level', reset = false }: Static<typeof NewKycToken>,
): Promise<KycToken> {
  const user = await findUser(ctx.db, userId);
  if (user === undefined) throw new ApiError('not_found');
  if (reset) await resetApplicant(ctx, userId, level);
  const token = await ctx.identity.mintToken({ userId, level, email: user.email });
  return ctx.commitReply(async (tx) => {
    await expectApplicant(tx, userId);
    return { object: 'kyc_token' as const, token };
  });
}

/** Asks the provider rather than our records: what it reviews at this moment must not be wiped. */
async function resetApplicant(ctx: Context, userId: string, level: Level): Promise<void> {
  const ours = await findReview(ctx.db, userId, level);
  if (ours?.reject_type === 'FINAL') throw new ApiError('kyc_final_rejection');
  const applicant = await ctx.identity.findApplicant(userId);
  if (applicant === null) return;
  await refuseReset(ctx, userId, applicant);
  if (!(await ctx.identity.resetApplicant(applicant.id))) {
    // It may have gone under review since it was read.
    const now = await ctx.identity.findApplicant(userId);
    if (now !== null) await refuseReset(ctx, userId, now);
    throw new ApiError(
      'upstream_unavailable',
      { upstream: 'identity' },
      { headers: { 'retry-after': '10' } },
    );
  }
  await recordReset(ctx, userId, applicant.review);
}

async function refuseReset(ctx: Context, userId: string, { review }: Applicant): Promise<void> {
  const isFinal = review?.rejectType === 'FINAL';
  if (!isFinal && !UNDER_REVIEW.has(review?.status ?? '')) return;
  await ctx.db.transaction().execute(async (tx) => {
    if ((await lockApplicant(tx, userId)) !== undefined) await markDue(tx, userId);
  });
  throw new ApiError(isFinal ? 'kyc_final_rejection' : 'kyc_in_review');
}

/** The webhook will say so too; until it comes, statuses must not show a verdict that is gone. */
async function recordReset(ctx: Context, userId: string, review: Review | null): Promise<void> {
  if (review === null || !LEVELS.some((level) => level === review.levelName)) return;
  const asOf = timestampOf(ctx.clock);
  await ctx.db.transaction().execute(async (tx) => {
    if ((await lockApplicant(tx, userId)) === undefined) return;
    await saveReview(
      tx,
      userId,
      { levelName: review.levelName, status: 'init', answer: null, rejectType: null, reviewedAt: null },
      asOf,
    );
  });
}
