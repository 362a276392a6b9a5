import type { Context } from '../context.ts';
import type { Db } from '../db/pool.ts';
import { isId } from '../http/ids.ts';
import { toTimestamp } from '../http/wire.ts';
import { markPiiStale } from '../pii/store.ts';
import { type IdentityEvent, LEVELS, type WebhookHeaders } from './provider.ts';
import {
  findUserOfApplicant,
  forgetReviews,
  insertReceipt,
  lockApplicant,
  markDue,
  saveReview,
  setActive,
  setApplicantId,
} from './store.ts';

/**
 * Takes one event. Its own word about its level is applied when nothing newer is known, because the provider forgets a
 * level as soon as the applicant moves on; everything else, and the truth about this one, comes from reading the
 * applicant again. So lost, repeated and reordered deliveries end in the same state.
 */
export async function receiveIdentityEvent(ctx: Context, headers: WebhookHeaders, body: Buffer) {
  const event = ctx.identity.readWebhook(headers, body);
  const outcome = await applyEvent(ctx, event);
  ctx.log.info({ effect: event.effect, outcome }, 'identity webhook');
  return { object: 'webhook_receipt' as const };
}

type Outcome = 'applied' | 'ignored' | 'repeated' | 'unknown';

async function applyEvent(ctx: Context, event: IdentityEvent): Promise<Outcome> {
  if (event.effect === 'none' || event.isTest) return 'ignored';
  if (event.isSandbox && !ctx.identity.isSandbox) return 'ignored';
  return ctx.db.transaction().execute(async (tx) => {
    const userId =
      event.userId !== null && isId(event.userId)
        ? event.userId
        : await findUserOfApplicant(tx, event.applicantId);
    const applicant = userId === undefined ? undefined : await lockApplicant(tx, userId);
    if (applicant === undefined) return 'unknown';
    if (!(await insertReceipt(tx, 'identity', event.name))) return 'repeated';
    const isTheirs =
      applicant.applicant_id === event.applicantId ||
      (applicant.applicant_id === null &&
        !event.isMember &&
        (await setApplicantId(tx, applicant.user_id, event.applicantId)));
    const isOfKind = event.kind === null || event.kind === applicant.kind;
    if (isTheirs && isOfKind) await applyEffect(tx, applicant.user_id, event);
    await markDue(tx, applicant.user_id);
    return isTheirs && isOfKind ? 'applied' : 'ignored';
  });
}

async function applyEffect(tx: Db, userId: string, { effect, review, at }: IdentityEvent): Promise<void> {
  const asOf = toTimestamp(at * 1000);
  switch (effect) {
    case 'review':
      if (review !== null && LEVELS.some((level) => level === review.levelName))
        await saveReview(tx, userId, review, asOf);
      return;
    case 'activated':
    case 'deactivated':
      return setActive(tx, userId, effect === 'activated', asOf);
    case 'data_deleted':
      return markPiiStale(tx, userId, asOf);
    case 'deleted':
      await forgetReviews(tx, userId, asOf);
      await setApplicantId(tx, userId, null);
      return markPiiStale(tx, userId, asOf);
    default:
  }
}
