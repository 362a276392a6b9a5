import type { Static } from 'typebox';
import { findUser } from '../accounts/user.ts';
import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import type { UserCaller } from '../http/access.ts';
import { timestampOf } from '../http/wire.ts';
import { type Applicant, LEVELS, type Level, type Review, UNDER_REVIEW } from './provider.ts';
import type { KycToken, NewKycToken } from './schema.ts';
import { expectApplicant, findReview, lockApplicant, markDue, saveReview } from './store.ts';

/**
 * Creates a token for the identity provider's flow. With `reset` the applicant starts over; throws `kyc_in_review` or
 * `kyc_final_rejection` if that is not allowed.
 */
export async function createKycToken(
  ctx: Context,
  { userId }: UserCaller,
  { level_name: level = 'Sorting_KYC_Level', reset = false }: Static<typeof NewKycToken>,
): Promise<KycToken> {
  const user = await findUser(ctx.db, userId);
  if (user === undefined) throw new ApiError('not_found');
  if (reset) await resetApplicant(ctx, userId, level);
  const token = await ctx.identity.createToken({ userId, level, email: user.email });
  return ctx.commitReply(async (tx) => {
    await expectApplicant(tx, userId);
    return { object: 'kyc_token' as const, token };
  });
}

/** Reads the state from the provider and not from our records, so that a review in progress is never reset. */
async function resetApplicant(ctx: Context, userId: string, level: Level): Promise<void> {
  const stored = await findReview(ctx.db, userId, level);
  if (stored?.reject_type === 'FINAL') throw new ApiError('kyc_final_rejection');
  const applicant = await ctx.identity.findApplicant(userId);
  if (applicant === null) return;
  await assertResettable(ctx, userId, applicant);
  if (!(await ctx.identity.resetApplicant(applicant.id))) {
    // A review may have started since the applicant was read.
    const current = await ctx.identity.findApplicant(userId);
    if (current !== null) await assertResettable(ctx, userId, current);
    throw new ApiError(
      'upstream_unavailable',
      { upstream: 'identity' },
      { headers: { 'retry-after': '10' } },
    );
  }
  await recordReset(ctx, userId, applicant.review);
}

async function assertResettable(ctx: Context, userId: string, { review }: Applicant): Promise<void> {
  const isFinal = review?.rejectType === 'FINAL';
  if (!isFinal && !UNDER_REVIEW.has(review?.status ?? '')) return;
  await ctx.db.transaction().execute(async (tx) => {
    if ((await lockApplicant(tx, userId)) !== undefined) await markDue(tx, userId);
  });
  throw new ApiError(isFinal ? 'kyc_final_rejection' : 'kyc_in_review');
}

/** Records the reset before its webhook arrives, so that statuses do not show the old answer. */
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
