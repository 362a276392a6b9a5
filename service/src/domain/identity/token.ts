import type { Static } from 'typebox';
import type { UserCaller } from '../../kernel/access.ts';
import { ApiError } from '../../kernel/errors.ts';
import type { KycToken, Level, NewKycToken } from '../../kernel/model/levels.ts';
import { timestampOf } from '../../kernel/wire.ts';
import type { Context } from '../../platform/context/context.ts';
import type { Db } from '../../platform/db/pool.ts';
import { type Applicant, UNDER_REVIEW } from '../../platform/providers/identity.ts';
import { reportStatuses } from '../requirements/report.ts';
import { shareAccount } from '../users/account.ts';
import { findUser } from '../users/store.ts';
import { recordReview } from './review.ts';
import { expectApplicant, isFinallyRejected, lockApplicant, markDue } from './store.ts';

/**
 * Creates a token for the identity provider's flow. With `reset`, the user starts the level over. Throws
 * `kyc_final_rejection` if the user is permanently rejected on any level, `kyc_in_review` if a review in progress
 * prevents the reset, and `unauthorized` if the user was erased while the request was running.
 */
export async function createKycToken(
  ctx: Context,
  { userId }: UserCaller,
  { level_name: level = 'Sorting_KYC_Level', reset = false }: Static<typeof NewKycToken>,
): Promise<KycToken> {
  const user = await findUser(ctx.db, userId);
  if (user === undefined) throw new ApiError('not_found');
  await assertNotFinallyRejected(ctx.db, userId);
  if (reset) await resetLevel(ctx, userId, level);
  const token = await ctx.identity.createToken({ userId, level, email: user.email });
  return ctx.commitReply(async (tx) => {
    await shareAccount(tx, userId);
    await expectApplicant(tx, userId);
    // `expectApplicant` has locked the applicant's row, so no final rejection can be recorded between this check and
    // the commit.
    await assertNotFinallyRejected(tx, userId);
    return { object: 'kyc_token' as const, token };
  });
}

async function assertNotFinallyRejected(db: Db, userId: string): Promise<void> {
  if (await isFinallyRejected(db, userId)) throw new ApiError('kyc_final_rejection');
}

/**
 * Resets the applicant's review on one level. Reads the applicant's state from the provider rather than from our
 * records, so that a review in progress is never reset. The provider resets only the current level, so this function
 * first moves the applicant to the requested level. The reviews on other levels stay as they are.
 */
async function resetLevel(ctx: Context, userId: string, level: Level): Promise<void> {
  const applicant = await ctx.identity.findApplicant(userId);
  if (applicant === null) return;
  await assertResettable(ctx, userId, applicant);
  const isReset =
    (applicant.review?.levelName === level || (await ctx.identity.moveToLevel(applicant.id, level))) &&
    (await ctx.identity.resetApplicant(applicant.id));
  if (!isReset) {
    // A review may have started since the applicant was read.
    const current = await ctx.identity.findApplicant(userId);
    if (current !== null) await assertResettable(ctx, userId, current);
    throw new ApiError(
      'upstream_unavailable',
      { upstream: 'identity' },
      { headers: { 'retry-after': '10' } },
    );
  }
  await recordReset(ctx, userId, level);
}

async function assertResettable(ctx: Context, userId: string, { review }: Applicant): Promise<void> {
  const isFinal = review?.rejectType === 'FINAL';
  if (!isFinal && !UNDER_REVIEW.has(review?.status ?? '')) return;
  await ctx.db.transaction().execute(async (tx) => {
    if ((await lockApplicant(tx, userId)) !== undefined) await markDue(tx, userId);
  });
  throw new ApiError(isFinal ? 'kyc_final_rejection' : 'kyc_in_review');
}

/** Records the reset before the webhook about it arrives, so that statuses do not show the old answer. */
async function recordReset(ctx: Context, userId: string, levelName: Level): Promise<void> {
  const asOf = timestampOf(ctx.clock);
  const review = { levelName, status: 'init', answer: null, rejectType: null, reviewedAt: null } as const;
  await ctx.db.transaction().execute(async (tx) => {
    if ((await lockApplicant(tx, userId)) === undefined) return;
    // A final rejection may have arrived since the reset, and must not be overwritten.
    await assertNotFinallyRejected(tx, userId);
    await recordReview(tx, userId, review, asOf);
    await reportStatuses(ctx, tx, userId);
  });
}
