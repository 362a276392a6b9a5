import type { Context } from '../../platform/context/context.ts';
import type { Db } from '../../platform/db/pool.ts';
import { appendEvent } from '../../platform/events/event.ts';
import { sendMail } from '../../platform/mail/outbox.ts';
import type { ClaimedDelivery } from './delivery-store.ts';
import { type EndpointHealth, markProblem, recordSuccess } from './health-store.ts';

/**
 * Updates the endpoint's health after a success. If the partner had been notified of a problem, appends an event about
 * the recovery.
 */
export async function noteSuccess(ctx: Context, tx: Db, delivery: Delivery): Promise<void> {
  if (!(await recordSuccess(tx, delivery.endpoint_id))) return;
  await appendHealthEvent(ctx, tx, delivery, 'webhook_endpoint.recovered', {});
}

type Failure = { isGone: boolean; isExhausted: boolean };
type Delivery = Pick<ClaimedDelivery, 'endpoint_id' | 'partner_id'>;

/**
 * Checks whether a failure changes the endpoint's health. If it does, records the change and notifies the partner. The
 * caller must have locked the endpoint with `countFailure`, so that concurrent failures cause only one mail.
 */
export async function noteFailure(
  ctx: Context,
  tx: Db,
  delivery: Delivery,
  health: EndpointHealth,
  { isGone, isExhausted }: Failure,
): Promise<void> {
  const { endpoint_id: id } = delivery;
  if (health.state === 'disabled') return;
  if (isGone || health.is_hopeless) {
    const reason = isGone ? 'gone' : 'failing';
    await markProblem(tx, id, 'disabled', reason);
    await appendHealthEvent(ctx, tx, delivery, 'webhook_endpoint.disabled', { disabled_reason: reason });
    const cause = isGone ? 'It answered 410 Gone.' : 'No delivery has succeeded for 5 days.';
    await mailPartner(ctx, tx, health.contact_email, {
      subject: 'Webhook endpoint disabled',
      text: `We no longer send events to ${health.url}.\n${cause}\n\nNo event is lost. When the endpoint works again, call POST /v1/webhook-endpoints/${id}/enable to resume delivery where it stopped.\n`,
    });
  } else if (isExhausted && health.state === 'enabled') {
    await markProblem(tx, id, 'failing', null);
    await mailPartner(ctx, tx, health.contact_email, {
      subject: 'Webhook endpoint failing',
      text: `An event could not be delivered to ${health.url} within 24 hours.\n\nWe will keep sending newer events. If no delivery succeeds for 5 days, we will disable the endpoint. To send failed events again, call POST /v1/webhook-endpoints/${id}/recover.\n`,
    });
  }
}

async function appendHealthEvent(
  ctx: Context,
  tx: Db,
  { endpoint_id: id, partner_id: partnerId }: Delivery,
  type: string,
  details: Record<string, unknown>,
): Promise<void> {
  const data = { object: 'webhook_endpoint', id, ...details };
  const related = { object: 'webhook_endpoint', id, path: `/v1/webhook-endpoints/${id}` };
  await appendEvent(ctx, tx, { partnerId, userId: null, type, data, related });
}

async function mailPartner(
  ctx: Context,
  tx: Db,
  to: string | null,
  mail: { subject: string; text: string },
): Promise<void> {
  if (to === null) ctx.log.warn({ subject: mail.subject }, 'mail not sent: the partner has no contact email');
  else await sendMail(ctx, tx, { to, ...mail });
}
