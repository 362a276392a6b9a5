import type { Context } from '../context.ts';
import { timestampOf } from '../http/wire.ts';
import { type QueueWorker, type Step, startQueueWorker } from '../jobs/queue-worker.ts';
import { upstreamFailureOf } from '../outbound/failure.ts';
import type { Signing } from './provider.ts';
import {
  advanceSubmission,
  claimDueSubmission,
  DOCUMENTS_CHANNEL,
  finishDueSubmission,
  type SubmissionRow,
} from './store.ts';

const HOUR = 3600;
const EVERY = 30_000;
/** By then a creation whose answer was lost would have shown. */
const GIVE_UP_AFTER = 10 * 60_000;

/** Asks after forms that nothing was heard of, first of all after those whose creation was never answered. */
export function startDocumentReconciler(ctx: Context): Promise<QueueWorker> {
  return startQueueWorker(ctx, {
    name: 'documents',
    channel: DOCUMENTS_CHANNEL,
    intervalMs: EVERY,
    concurrency: 1,
    step: () => checkNextSubmission(ctx),
  });
}

export async function checkNextSubmission(ctx: Context): Promise<Step> {
  const row = await claimDueSubmission(ctx.db);
  if (row === undefined) return 'idle';
  try {
    const signing = await look(ctx, row);
    if (signing !== null) {
      const at = timestampOf(ctx.clock);
      await ctx.db.transaction().execute((tx) => advanceSubmission(tx, row.id, signing, at));
    }
    await finishDueSubmission(ctx.db, row.id, signing === null ? 60 : HOUR);
    return 'worked';
  } catch (err) {
    const failure = upstreamFailureOf(err);
    await finishDueSubmission(ctx.db, row.id, Math.max(60, failure?.retryAfterSeconds ?? 0));
    ctx.log.warn({ err, submission_id: row.id }, 'a form cannot be asked after');
    return failure === undefined || failure.kind === 'invalid_response'
      ? 'worked'
      : { pause: failure.retryAfterSeconds * 1000 };
  }
}

/** Null = nothing to say yet. What it was to be filled with is not kept, so a form that was never created is over. */
async function look(
  ctx: Context,
  row: SubmissionRow,
): Promise<(Pick<Signing, 'status' | 'completedAt'> & Partial<Signing>) | null> {
  if (row.provider_submission_id !== null) return ctx.documents.read(Number(row.provider_submission_id));
  const found = await ctx.documents.find(row.id);
  if (found !== null) return found;
  const isOld = ctx.clock.now() - Date.parse(row.updated_at) > GIVE_UP_AFTER;
  return isOld ? { status: 'EXPIRED', completedAt: null } : null;
}
