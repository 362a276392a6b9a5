import type { Context } from '../../platform/context/context.ts';
import {
  type QueueWorker,
  type Step,
  startQueueWorker,
  stepAfterFailure,
} from '../../platform/jobs/queue-worker.ts';
import { upstreamFailureOf } from '../../platform/outbound/failure.ts';
import type { Signing } from '../../platform/providers/documents.ts';
import { archiveForm, changeSubmission } from './status.ts';
import {
  claimDueSubmission,
  claimFormToArchive,
  deleteFormToArchive,
  finishDueSubmission,
  postponeArchiving,
  type SubmissionRow,
} from './store.ts';

const MINUTE_S = 60;
const HOUR_S = 60 * MINUTE_S;
const POLL_INTERVAL_MS = 30_000;
const WEEK_MS = 7 * 24 * HOUR_S * 1000;
/** A submission that the provider still does not know after this time was never created. */
const CREATION_TIMEOUT_MS = 10 * 60_000;

/** Asks the provider about open submissions, in case an event was lost, and archives forms that have ended. */
export function startDocumentReconciler(ctx: Context): Promise<QueueWorker> {
  return startQueueWorker(ctx, {
    name: 'documents',
    // No channel to listen on: a submission becomes due only because time has passed.
    channel: null,
    intervalMs: POLL_INTERVAL_MS,
    concurrency: 1,
    step: async () => {
      const archived = await archiveNextForm(ctx);
      return archived === 'idle' ? checkNextSubmission(ctx) : archived;
    },
  });
}

export async function checkNextSubmission(ctx: Context): Promise<Step> {
  const row = await claimDueSubmission(ctx.db);
  if (row === undefined) return 'idle';
  try {
    const signing = await readSubmission(ctx, row);
    if (signing !== null)
      await ctx.db.transaction().execute((tx) => changeSubmission(ctx, tx, row.id, signing));
    await finishDueSubmission(ctx.db, row.id, signing === null ? MINUTE_S : HOUR_S);
    return 'worked';
  } catch (err) {
    const failure = upstreamFailureOf(err);
    await finishDueSubmission(ctx.db, row.id, Math.max(MINUTE_S, failure?.retryAfterSeconds ?? 0));
    ctx.log.warn({ err, submission_id: row.id }, 'reading a submission failed');
    return stepAfterFailure(failure);
  }
}

export async function archiveNextForm(ctx: Context): Promise<Step> {
  const row = await claimFormToArchive(ctx.db);
  if (row === undefined) return 'idle';
  try {
    if ((await archiveForm(ctx, row)) || isCreationOver(ctx, row)) await deleteFormToArchive(ctx.db, row.id);
    else await postponeArchiving(ctx.db, row.id, MINUTE_S);
    return 'worked';
  } catch (err) {
    const failure = upstreamFailureOf(err);
    if (isLongExpired(ctx, row)) await deleteFormToArchive(ctx.db, row.id);
    else await postponeArchiving(ctx.db, row.id, Math.max(MINUTE_S, failure?.retryAfterSeconds ?? 0));
    const { id: submission_id, provider_submission_id } = row;
    ctx.log.warn({ err, submission_id, provider_submission_id }, 'archiving a form failed');
    return stepAfterFailure(failure);
  }
}

function isLongExpired({ clock }: Context, { expires_at }: SubmissionRow): boolean {
  return Date.parse(expires_at) + WEEK_MS < clock.now();
}

function isCreationOver({ clock }: Context, { updated_at }: SubmissionRow): boolean {
  return clock.now() - Date.parse(updated_at) > CREATION_TIMEOUT_MS;
}

/** Null while the provider may still be creating it. If it never did, expired: the form values are not stored. */
async function readSubmission(
  ctx: Context,
  row: SubmissionRow,
): Promise<(Pick<Signing, 'status' | 'completedAt'> & Partial<Signing>) | null> {
  if (row.provider_submission_id !== null) return ctx.documents.read(Number(row.provider_submission_id));
  const found = await ctx.documents.find(row.id);
  if (found !== null) return found;
  return isCreationOver(ctx, row) ? { status: 'EXPIRED', completedAt: null } : null;
}
