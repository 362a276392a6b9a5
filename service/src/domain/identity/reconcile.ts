import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from '../../kernel/errors.ts';
import { timestampOf } from '../../kernel/wire.ts';
import type { Context } from '../../platform/context/context.ts';
import type { Db } from '../../platform/db/pool.ts';
import {
  type QueueWorker,
  type Step,
  startQueueWorker,
  stepAfterFailure,
} from '../../platform/jobs/queue-worker.ts';
import { upstreamFailureOf } from '../../platform/outbound/failure.ts';
import { type Applicant, UNDER_REVIEW } from '../../platform/providers/identity.ts';
import { savePersonalData } from '../pii/pii.ts';
import { markPiiStale } from '../pii/store.ts';
import { reportStatuses } from '../requirements/report.ts';
import { recordMove } from '../requirements/residence.ts';
import { recordReview } from './review.ts';
import {
  claimDueApplicant,
  finishCheck,
  IDENTITY_CHANNEL,
  isLevelReview,
  isSettled,
  lockApplicant,
  markOpenCasesDue,
  postponeCheck,
  resetReviews,
  savePerson,
  setApplicantId,
} from './store.ts';

const MINUTE_S = 60;
const HOUR_S = 60 * MINUTE_S;
const POLL_INTERVAL_MS = 15_000;
const CONCURRENCY = 4;
const MAX_BACKOFF_S = HOUR_S;
const SETTLE_TIMEOUT_MS = 8_000;
const SETTLE_POLL_MS = 20;

/** Rereads applicants after a webhook, at regular intervals and, for open cases, when the service starts. */
export async function startIdentityReconciler(ctx: Context): Promise<QueueWorker> {
  await markOpenCasesDue(ctx.db);
  return startQueueWorker(ctx, {
    name: 'identity',
    channel: IDENTITY_CHANNEL,
    intervalMs: POLL_INTERVAL_MS,
    concurrency: CONCURRENCY,
    step: () => checkNext(ctx),
  });
}

export async function checkNext(ctx: Context, userId: string | null = null): Promise<Step> {
  const due = await claimDueApplicant(ctx.db, userId);
  if (due === undefined) return 'idle';
  try {
    const nextCheckSeconds = await refreshApplicant(ctx, due.user_id);
    await finishCheck(ctx.db, due.user_id, nextCheckSeconds);
    return 'worked';
  } catch (err) {
    const failure = upstreamFailureOf(err);
    const backoff = Math.min(2 ** Math.min(due.attempts, 12), MAX_BACKOFF_S);
    await postponeCheck(ctx.db, due.user_id, Math.max(backoff, failure?.retryAfterSeconds ?? 0));
    ctx.log.warn({ err, user_id: due.user_id }, 'could not check an applicant');
    return stepAfterFailure(failure);
  }
}

/** Returns the seconds until the next check, or null if the user was erased. */
async function refreshApplicant(ctx: Context, userId: string): Promise<number | null> {
  // Read the time before the request, so that events during the request count as newer.
  const asOf = timestampOf(ctx.clock);
  const applicant = await ctx.identity.findApplicant(userId);
  return ctx.db.transaction().execute(async (tx) => {
    const nextCheckSeconds = await applyApplicant(ctx, tx, userId, applicant, asOf);
    await reportStatuses(ctx, tx, userId);
    return nextCheckSeconds;
  });
}

async function applyApplicant(
  ctx: Context,
  tx: Db,
  userId: string,
  applicant: Applicant | null,
  asOf: string,
): Promise<number | null> {
  const stored = await lockApplicant(tx, userId);
  if (stored === undefined) return null;
  if (applicant === null) {
    if (stored.applicant_id !== null) await markPiiStale(tx, userId, asOf);
    return HOUR_S;
  }
  if (applicant.kind !== stored.kind || !(await setApplicantId(tx, userId, applicant.id))) {
    ctx.log.warn({ user_id: userId }, 'applicant does not match the user');
    return 24 * HOUR_S;
  }
  // The provider has deleted the former applicant, and the event about the deletion was lost or has not arrived yet.
  if (stored.applicant_id !== null && stored.applicant_id !== applicant.id) {
    await resetReviews(tx, userId, asOf);
    await markPiiStale(tx, userId, asOf);
  }
  const { review, data } = applicant;
  if (review === null || !isLevelReview(review)) return HOUR_S;
  await recordReview(tx, userId, review, asOf);
  // Stores only verified data. If the reply contains no data, the provider has deleted the data, and we keep our copy.
  if (review.answer === 'GREEN' && Object.values(data).some((value) => value !== null)) {
    const saved = await savePersonalData(ctx, tx, userId, data, asOf);
    if (saved !== null) await savePerson(tx, userId, review.levelName, saved.person, asOf);
    if (saved !== null && saved.move !== null) await recordMove(ctx, tx, userId, saved.move);
  }
  if (UNDER_REVIEW.has(review.status)) return 10 * MINUTE_S;
  return review.status === 'completed' ? 24 * HOUR_S : HOUR_S;
}

export async function settleApplicant(ctx: Context, userId: string): Promise<void> {
  const deadline = performance.now() + SETTLE_TIMEOUT_MS;
  while (!(await isSettled(ctx.db, userId))) {
    if (performance.now() > deadline)
      throw new ApiError(
        'upstream_unavailable',
        { upstream: 'identity' },
        { headers: { 'retry-after': '1' } },
      );
    if ((await checkNext(ctx, userId)) !== 'worked') await sleep(SETTLE_POLL_MS);
  }
}
