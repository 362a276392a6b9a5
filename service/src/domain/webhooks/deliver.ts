import { realMicros } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import { toTimestamp } from '../../kernel/wire.ts';
import type { Context } from '../../platform/context/context.ts';
import type { SendResult } from '../../platform/context/ports.ts';
import type { Db } from '../../platform/db/pool.ts';
import { appendEvent } from '../../platform/events/event.ts';
import { renderEvent } from '../../platform/events/log.ts';
import { sendMail } from '../../platform/mail/outbox.ts';
import {
  type ClaimedDelivery,
  finishResend,
  insertAttempt,
  insertDeliveries,
  markDelivered,
  moveCursor,
  planRetry,
  readNewEvents,
  releaseDelivery,
} from './delivery-store.ts';
import { SECRET_PURPOSE } from './endpoint.ts';
import { countFailure, type EndpointHealth, markProblem, recordSuccess } from './endpoint-store.ts';
import { signatureHeaders } from './signature.ts';

const BATCH_SIZE = 500;

/**
 * Moves the endpoint's cursor in the same transaction. Returns whether there may be more events: reads only one
 * batch, so that the backlog of one endpoint does not delay the others.
 */
export async function createDeliveries(ctx: Context, endpointId: string): Promise<boolean> {
  return ctx.db.transaction().execute(async (tx) => {
    const { cursor, wanted, isMore } = await readNewEvents(tx, endpointId, BATCH_SIZE);
    if (cursor === null) return false;
    const rows = wanted.map(({ event_id, subject, sequence }) => ({
      ...{ id: newId(ctx.clock, ctx.random), endpoint_id: endpointId, event_id, subject, sequence },
      inserted_at: toTimestamp(ctx.clock.micros()),
    }));
    await insertDeliveries(tx, rows);
    await moveCursor(tx, endpointId, cursor);
    return isMore;
  });
}

export async function deliver(ctx: Context, delivery: ClaimedDelivery): Promise<void> {
  const { id, endpoint_id, sealed_secret, previous_sealed_secret, url } = delivery;
  // Every attempt sends the same bytes, unless the user's grants have changed what the partner may see.
  const body = JSON.stringify(renderEvent(delivery));
  const secrets = [sealed_secret, previous_sealed_secret]
    .filter((sealed) => sealed !== null)
    .map((sealed) => ctx.sealing.open(SECRET_PURPOSE, sealed, endpoint_id).toString());
  // Real time even if the sandbox clock has moved, because receivers compare it with their own clock.
  const at = realMicros();
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'Causeway-Webhooks/1.0',
    ...signatureHeaders(secrets, { id, timestampSeconds: Math.floor(at / 1e6), body }),
  };
  const result = await ctx.webhooks.send(url, headers, body);
  if (result.error === 'stopped') await releaseDelivery(ctx.db, delivery);
  else await recordAttempt(ctx, delivery, at, result);
}

async function recordAttempt(
  ctx: Context,
  delivery: ClaimedDelivery,
  at: number,
  { durationMs, retryAfterSeconds, ...result }: SendResult,
): Promise<void> {
  const { status } = result;
  const isSuccess = status !== null && status >= 200 && status < 300;
  const attempt = {
    ...{ id: newId(ctx.clock, ctx.random), delivery_id: delivery.delivery_id, kind: delivery.kind },
    ...{ at: toTimestamp(at), duration_ms: durationMs, ...result },
  };
  await ctx.db.transaction().execute(async (tx) => {
    // A resend does not affect the endpoint's health, so that partners can experiment. The health of the endpoint comes
    // first, because all code locks an endpoint's row before its deliveries' rows, to avoid deadlocks.
    if (delivery.kind === 'resend') await finishResend(tx, delivery);
    else if (isSuccess) await noteSuccess(ctx, tx, delivery);
    else await recordFailure(ctx, tx, delivery, status, retryAfterSeconds);
    if (isSuccess) await markDelivered(tx, delivery.delivery_id);
    await insertAttempt(tx, attempt);
  });
}

async function recordFailure(
  ctx: Context,
  tx: Db,
  delivery: ClaimedDelivery,
  status: number | null,
  retryAfterSeconds: number | null,
): Promise<void> {
  const health = await countFailure(tx, delivery.endpoint_id);
  const random = ctx.random(4).readUInt32BE() / 2 ** 32;
  const isGone = status === 410;
  // A 410 (gone) disables the endpoint. The delivery stays pending without a delay, so that it is sent as soon as the
  // endpoint is enabled again.
  const delayMs = isGone ? 0 : retryDelayMs(delivery.step, random, retryAfterSeconds);
  const isExhausted = await planRetry(tx, delivery, delayMs);
  if (health !== undefined) await noteFailure(ctx, tx, delivery, health, { isGone, isExhausted });
}

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** The delay after each failed attempt. Without jitter, the last of the 11 attempts is 23 h 42 min after the first. */
const DELAYS_MS = [
  5 * SECOND_MS,
  30 * SECOND_MS,
  2 * MINUTE_MS,
  10 * MINUTE_MS,
  30 * MINUTE_MS,
  HOUR_MS,
  2 * HOUR_MS,
  4 * HOUR_MS,
  8 * HOUR_MS,
  8 * HOUR_MS,
];
const JITTER = 0.2;

/**
 * Null after the last attempt. `attempt` counts from 1, `random` is between 0 and 1. `Retry-After` can at most double
 * the delay and never shortens it.
 */
export function retryDelayMs(
  attempt: number,
  random: number,
  retryAfterSeconds: number | null,
): number | null {
  const base = DELAYS_MS[attempt - 1];
  if (base === undefined) return null;
  const delay = base * (1 - JITTER + 2 * JITTER * random);
  const requested = (retryAfterSeconds ?? 0) * SECOND_MS;
  return Math.round(Math.min(Math.max(requested, delay), 2 * delay));
}

/** Appends an event about the recovery if the partner had been notified of a problem. */
async function noteSuccess(ctx: Context, tx: Db, delivery: Delivery): Promise<void> {
  if (!(await recordSuccess(tx, delivery.endpoint_id))) return;
  await appendHealthEvent(ctx, tx, delivery, 'webhook_endpoint.recovered', {});
}

type Failure = { isGone: boolean; isExhausted: boolean };
type Delivery = Pick<ClaimedDelivery, 'endpoint_id' | 'partner_id'>;

/** The caller must have locked the endpoint with `countFailure`, so that concurrent failures cause only one mail. */
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
