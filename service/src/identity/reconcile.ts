import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from '../context.ts';
import type { Db } from '../db/pool.ts';
import { ApiError } from '../errors.ts';
import { timestampOf } from '../http/wire.ts';
import { type QueueWorker, type Step, startQueueWorker } from '../jobs/queue-worker.ts';
import { upstreamFailureOf } from '../outbound/failure.ts';
import { savePersonalData } from '../pii/pii.ts';
import { markPiiStale } from '../pii/store.ts';
import { type Applicant, LEVELS, UNDER_REVIEW } from './provider.ts';
import {
  claimDueApplicant,
  finishCheck,
  IDENTITY_CHANNEL,
  isSettled,
  lockApplicant,
  markOpenCasesDue,
  postponeCheck,
  saveReview,
  setApplicantId,
} from './store.ts';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const EVERY = 15_000;
const LANES = 4;
const LONGEST_BACKOFF = HOUR;
const SETTLED_WITHIN = 8_000;

/** Reads every applicant that a webhook told of, that has been silent for long, and at the start all open cases. */
export async function startIdentityReconciler(ctx: Context): Promise<QueueWorker> {
  await markOpenCasesDue(ctx.db);
  return startQueueWorker(ctx, {
    name: 'identity',
    channel: IDENTITY_CHANNEL,
    intervalMs: EVERY,
    concurrency: LANES,
    step: () => checkNext(ctx),
  });
}

/** Reads one applicant that is due, of this user where one is named. */
export async function checkNext(ctx: Context, only: string | null = null): Promise<Step> {
  const due = await claimDueApplicant(ctx.db, only);
  if (due === undefined) return 'idle';
  try {
    const next = await refreshApplicant(ctx, due.user_id);
    await finishCheck(ctx.db, due.user_id, next);
    return 'worked';
  } catch (err) {
    const failure = upstreamFailureOf(err);
    const backoff = Math.min(2 ** Math.min(due.attempts, 12), LONGEST_BACKOFF);
    await postponeCheck(ctx.db, due.user_id, Math.max(backoff, failure?.retryAfterSeconds ?? 0));
    ctx.log.warn({ err, user_id: due.user_id }, 'an applicant cannot be read');
    return failure === undefined || failure.kind === 'invalid_response'
      ? 'worked'
      : { pause: failure.retryAfterSeconds * 1000 };
  }
}

/** Applies what the provider says now; answers in how many seconds to ask again. */
async function refreshApplicant(ctx: Context, userId: string): Promise<number> {
  // Taken before the question: what happens while it is answered is newer.
  const asOf = timestampOf(ctx.clock);
  const applicant = await ctx.identity.findApplicant(userId);
  return ctx.db.transaction().execute((tx) => applyApplicant(ctx, tx, userId, applicant, asOf));
}

async function applyApplicant(
  ctx: Context,
  tx: Db,
  userId: string,
  applicant: Applicant | null,
  asOf: string,
): Promise<number> {
  const known = await lockApplicant(tx, userId);
  if (known === undefined) return 24 * HOUR;
  if (applicant === null) {
    if (known.applicant_id !== null) await markPiiStale(tx, userId, asOf);
    return HOUR;
  }
  if (applicant.kind !== known.kind || !(await setApplicantId(tx, userId, applicant.id))) {
    ctx.log.warn({ user_id: userId }, 'the applicant of a user is somebody else');
    return 24 * HOUR;
  }
  const { review, data } = applicant;
  if (review === null || !LEVELS.some((level) => level === review.levelName)) return HOUR;
  await saveReview(tx, userId, review, asOf);
  // Only what was verified is kept; an applicant without any data has had it deleted.
  if (review.answer === 'GREEN' && Object.values(data).some((value) => value !== null))
    await savePersonalData(ctx, tx, userId, data, asOf);
  if (UNDER_REVIEW.has(review.status)) return 10 * MINUTE;
  return review.status === 'completed' ? 24 * HOUR : HOUR;
}

/** Resolves when everything that is known to be new about the user has been applied. */
export async function settleApplicant(ctx: Context, userId: string): Promise<void> {
  const deadline = performance.now() + SETTLED_WITHIN;
  while (!(await isSettled(ctx.db, userId))) {
    if (performance.now() > deadline)
      throw new ApiError(
        'upstream_unavailable',
        { upstream: 'identity' },
        { headers: { 'retry-after': '1' } },
      );
    if ((await checkNext(ctx, userId)) !== 'worked') await sleep(20);
  }
}
