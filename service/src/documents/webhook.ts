import type { Context } from '../context.ts';
import { timestampOf } from '../http/wire.ts';
import type { WebhookHeaders } from '../identity/provider.ts';
import { insertReceipt } from '../identity/store.ts';
import { advanceSubmission, findSubmissionOfEvent } from './store.ts';

/** Takes one event: of its body only who, which status and when. A late or repeated one finds nothing to change. */
export async function receiveDocumentEvent(ctx: Context, headers: WebhookHeaders, body: Buffer) {
  const event = ctx.documents.readWebhook(headers, body);
  const { status, completedAt } = event;
  const outcome = await ctx.db.transaction().execute(async (tx) => {
    if (status === null) return 'ignored';
    const row = await findSubmissionOfEvent(tx, event.submissionId, event.externalId);
    if (row === undefined) return 'unknown';
    if (!(await insertReceipt(tx, 'documents', event.name))) return 'repeated';
    await advanceSubmission(tx, row.id, { status, completedAt }, timestampOf(ctx.clock));
    return 'applied';
  });
  ctx.log.info({ status, outcome }, 'documents webhook');
  return { object: 'webhook_receipt' as const };
}
