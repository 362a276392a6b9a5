import type { WebhookHeaders } from '../../kernel/model/webhook.ts';
import type { Context } from '../../platform/context/context.ts';
import { recordDelivery } from '../../platform/http/webhook-receipt-store.ts';
import { changeSubmission } from './status.ts';
import { findSubmissionOfEvent } from './store.ts';

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
