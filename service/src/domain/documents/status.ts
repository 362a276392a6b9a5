import { timestampOf } from '../../kernel/wire.ts';
import type { Context } from '../../platform/context/context.ts';
import type { Db } from '../../platform/db/pool.ts';
import { appendEvents, listEventReaders } from '../../platform/events/event.ts';
import type { Signing, SubmissionStatus } from '../../platform/providers/documents.ts';
import { reportStatuses } from '../requirements/report.ts';
import { advanceSubmission, lockSubmission, type SubmissionRow } from './store.ts';

/**
 * Updates the submission to the provider's status, but never back to an earlier one. If the status changed, reports the
 * change. Returns the row.
 */
export async function changeSubmission(
  ctx: Context,
  tx: Db,
  id: string,
  signing: Pick<Signing, 'status' | 'completedAt'> & Partial<Signing>,
): Promise<SubmissionRow | undefined> {
  const before = await lockSubmission(tx, id);
  const row = await advanceSubmission(tx, id, signing, timestampOf(ctx.clock));
  if (row !== undefined && before !== undefined && row.status !== before)
    await reportSubmission(ctx, tx, row, before);
  return row;
}

/** Appends an event about a new or changed submission for every partner that may read such events. */
export async function reportSubmission(
  ctx: Context,
  tx: Db,
  { id, user_id: userId, document_type, form_type, status }: SubmissionRow,
  before: SubmissionStatus | null,
): Promise<void> {
  const type = `document_submission.${status.toLowerCase()}`;
  const events = (await listEventReaders(tx, userId, type)).map((partnerId) => ({
    ...{ partnerId, userId, type },
    data: { object: 'document_submission', id, document_type, form_type, status },
    ...(before !== null && { changes: { status: before } }),
  }));
  await appendEvents(ctx, tx, events);
  await reportStatuses(ctx, tx, userId);
}
