import { isId } from '../../kernel/ids.ts';
import type { WebhookHeaders } from '../../kernel/model/webhook.ts';
import { toTimestamp } from '../../kernel/wire.ts';
import type { Context } from '../../platform/context/context.ts';
import type { Db } from '../../platform/db/pool.ts';
import { recordDelivery } from '../../platform/http/webhook-receipt-store.ts';
import type { IdentityEvent } from '../../platform/providers/identity.ts';
import { markPiiStale } from '../pii/store.ts';
import { reportStatuses } from '../requirements/report.ts';
import { recordReview } from './review.ts';
import {
  findUserOfApplicant,
  isLevelReview,
  lockApplicant,
  markDue,
  resetReviews,
  setActive,
  setApplicantId,
} from './store.ts';

/**
 * Receives one event. Stores the event's review unless a newer one is already stored, and applies activations,
 * deactivations and deletions. Then schedules a read of the applicant, because deliveries can be lost, repeated or
 * reordered. The read alone would not be enough: once the applicant moves to another level, the provider drops the
 * review of the previous level.
 */
export async function receiveIdentityEvent(ctx: Context, headers: WebhookHeaders, body: Buffer) {
  const event = ctx.identity.readWebhook(headers, body);
  const outcome = event === null ? 'ignored' : await applyEvent(ctx, event);
  ctx.log.info({ effect: event?.effect ?? null, outcome }, 'identity event received');
  return { object: 'webhook_receipt' as const };
}

type Outcome = 'applied' | 'ignored' | 'repeated' | 'unknown';

async function applyEvent(ctx: Context, event: IdentityEvent): Promise<Outcome> {
  if (event.isTest) return 'ignored';
  if (event.isSandbox && !ctx.identity.isSandbox) return 'ignored';
  return ctx.db.transaction().execute(async (tx) => {
    const userId =
      event.userId !== null && isId(event.userId)
        ? event.userId
        : await findUserOfApplicant(tx, event.applicantId);
    const applicant = userId === undefined ? undefined : await lockApplicant(tx, userId);
    if (applicant === undefined) return 'unknown';
    if (!(await recordDelivery(tx, 'identity', event.key))) return 'repeated';
    const isSameApplicant =
      applicant.applicant_id === event.applicantId ||
      (applicant.applicant_id === null &&
        !event.isMember &&
        (await setApplicantId(tx, applicant.user_id, event.applicantId)));
    const isSameKind = event.kind === null || event.kind === applicant.kind;
    if (isSameApplicant && isSameKind) await applyEffect(tx, applicant.user_id, event);
    await markDue(tx, applicant.user_id);
    await reportStatuses(ctx, tx, applicant.user_id);
    return isSameApplicant && isSameKind ? 'applied' : 'ignored';
  });
}

async function applyEffect(tx: Db, userId: string, { effect, review, at }: IdentityEvent): Promise<void> {
  const asOf = toTimestamp(at * 1000);
  switch (effect) {
    case 'review':
      if (review !== null && isLevelReview(review)) await recordReview(tx, userId, review, asOf);
      return;
    case 'activated':
    case 'deactivated':
      return setActive(tx, userId, effect === 'activated', asOf);
    case 'data_deleted':
      return markPiiStale(tx, userId, asOf);
    case 'deleted':
      await resetReviews(tx, userId, asOf);
      await setApplicantId(tx, userId, null);
      return markPiiStale(tx, userId, asOf);
    default:
  }
}
