import type { WebhookHeaders } from '../../kernel/model/webhook.ts';
import { timestampOf } from '../../kernel/wire.ts';
import type { Context } from '../../platform/context/context.ts';
import type { Db } from '../../platform/db/pool.ts';
import { appendEvents } from '../../platform/events/event.ts';
import { listEventReaders } from '../../platform/events/store.ts';
import { recordDelivery } from '../../platform/http/webhook-receipt-store.ts';
import type { Signing, SubmissionStatus } from '../../platform/providers/documents.ts';
import { writeNotice } from '../notices/notice.ts';
import { reportStatuses } from '../requirements/report.ts';
import {
  addFormToArchive,
  advanceSubmission,
  deleteFormToArchive,
  findSubmissionOfEvent,
  lockSubmission,
  type SubmissionRow,
} from './store.ts';

/**
 * Never moves back to an earlier status. A change is reported, the user told of a form to sign, and an expired form
 * archived.
 */
export async function changeSubmission(
  ctx: Context,
  tx: Db,
  id: string,
  signing: Pick<Signing, 'status' | 'completedAt'> & Partial<Signing>,
): Promise<SubmissionRow | undefined> {
  const before = await lockSubmission(tx, id);
  const row = await advanceSubmission(tx, id, signing, timestampOf(ctx.clock));
  if (row === undefined || before === undefined || row.status === before) return row;
  if (before === 'INITIALIZED' && row.status === 'SENT')
    await writeNotice(tx, row.user_id, 'form_to_sign', id, { until: Date.parse(row.expires_at) });
  if (row.status === 'EXPIRED') await addFormToArchive(tx, id);
  await reportSubmission(ctx, tx, row, before);
  return row;
}

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

/**
 * Archives a form that has ended, so that its link stops working. If the user has signed or declined the form in the
 * meantime, stores that instead. Returns false if the provider does not know the form: the provider may still be
 * creating it, or may never have received our request.
 */
export async function archiveForm(
  ctx: Context,
  { id, provider_submission_id }: Pick<SubmissionRow, 'id' | 'provider_submission_id'>,
): Promise<boolean> {
  const submissionId =
    provider_submission_id === null
      ? (await ctx.documents.find(id))?.submissionId
      : Number(provider_submission_id);
  if (submissionId === undefined) return false;
  const signing = await ctx.documents.archive(submissionId);
  await ctx.db.transaction().execute(async (tx) => {
    if (signing !== null) await changeSubmission(ctx, tx, id, signing);
    await deleteFormToArchive(tx, id);
  });
  return true;
}

/** Receives one event and applies its status. Outdated and repeated deliveries change nothing. */
export async function receiveDocumentEvent(ctx: Context, headers: WebhookHeaders, body: Buffer) {
  const event = ctx.documents.readWebhook(headers, body);
  const { status, completedAt } = event;
  const outcome = await ctx.db.transaction().execute(async (tx) => {
    if (status === null) return 'ignored';
    const row = await findSubmissionOfEvent(tx, event.submissionId, event.externalId);
    if (row === undefined) return 'unknown';
    if (!(await recordDelivery(tx, 'documents', event.key))) return 'repeated';
    await changeSubmission(ctx, tx, row.id, { status, completedAt });
    return 'applied';
  });
  ctx.log.info({ status, outcome }, 'documents event received');
  return { object: 'webhook_receipt' as const };
}
