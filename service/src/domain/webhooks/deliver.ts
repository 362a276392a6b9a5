import { realMicros } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import { toTimestamp } from '../../kernel/wire.ts';
import type { Context } from '../../platform/context/context.ts';
import type { SendResult } from '../../platform/context/ports.ts';
import type { Db } from '../../platform/db/pool.ts';
import { renderEvent } from '../../platform/events/render.ts';
import {
  type ClaimedDelivery,
  finishResend,
  insertAttempts,
  insertDeliveries,
  markDelivered,
  moveCursor,
  planRetry,
  readNewEvents,
  releaseDelivery,
} from './delivery-store.ts';
import { SECRET_PURPOSE } from './endpoint.ts';
import { noteFailure } from './health.ts';
import { countFailure } from './health-store.ts';
import { retryDelayMs } from './retry-schedule.ts';
import { signatureHeaders } from './signature.ts';
import type { Success } from './success-batches.ts';

const BATCH_SIZE = 500;

/**
 * Creates deliveries for the next events after the endpoint's cursor, and moves the cursor in the same transaction.
 * Returns whether there may be more events. Reads only one batch, so that the backlog of one endpoint does not delay
 * the other endpoints.
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

/** Makes one delivery attempt and records its outcome. */
export async function deliver(
  ctx: Context,
  delivery: ClaimedDelivery,
  recordSuccess: (success: Success) => Promise<void>,
): Promise<void> {
  const { id, endpoint_id, sealed_secret, previous_sealed_secret, url } = delivery;
  // Every attempt sends the same bytes, unless the user's grants have changed what the partner may see.
  const body = JSON.stringify(renderEvent(delivery));
  const secrets = [sealed_secret, previous_sealed_secret]
    .filter((sealed) => sealed !== null)
    .map((sealed) => ctx.sealing.open(SECRET_PURPOSE, sealed, endpoint_id).toString());
  // Receivers compare the timestamp with their own clock, so the timestamp is real time even if the sandbox clock has
  // moved.
  const at = realMicros();
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'Causeway-Webhooks/1.0',
    ...signatureHeaders(secrets, { id, timestampSeconds: Math.floor(at / 1e6), body }),
  };
  const result = await ctx.webhooks.send(url, headers, body);
  if (result.error === 'stopped') await releaseDelivery(ctx.db, delivery);
  else await recordAttempt(ctx, delivery, recordSuccess, at, result);
}

async function recordAttempt(
  ctx: Context,
  delivery: ClaimedDelivery,
  recordSuccess: (success: Success) => Promise<void>,
  at: number,
  { durationMs, retryAfterSeconds, ...result }: SendResult,
): Promise<void> {
  const { status } = result;
  const isSuccess = status !== null && status >= 200 && status < 300;
  const attempt = {
    ...{ id: newId(ctx.clock, ctx.random), delivery_id: delivery.delivery_id, kind: delivery.kind },
    ...{ at: toTimestamp(at), duration_ms: durationMs, ...result },
  };
  if (isSuccess && delivery.kind === 'scheduled') return recordSuccess({ delivery, attempt });
  await ctx.db.transaction().execute(async (tx) => {
    // A resend does not affect the endpoint's health, so that partners can experiment. `recordFailure` locks the
    // endpoint's row before the delivery's row, as all other code does, to avoid deadlocks.
    if (delivery.kind === 'resend') {
      await finishResend(tx, delivery);
      if (isSuccess) await markDelivered(tx, delivery.delivery_id);
    } else await recordFailure(ctx, tx, delivery, status, retryAfterSeconds);
    await insertAttempts(tx, [attempt]);
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
