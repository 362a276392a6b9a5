import type { Caller } from '../../kernel/access.ts';
import { realTime } from '../../kernel/clock.ts';
import { ApiError, invalidField } from '../../kernel/errors.ts';
import { isId, newId } from '../../kernel/ids.ts';
import { type PageQuery, readPage } from '../../kernel/paging.ts';
import { toTimestamp } from '../../kernel/wire.ts';
import type { Context } from '../../platform/context/context.ts';
import type { Db } from '../../platform/db/pool.ts';
import { readFilters } from '../../platform/http/filters.ts';
import type { Query } from '../../platform/http/query-string.ts';
import * as store from './delivery-log-store.ts';
import { createPartition, dropPartitions } from './delivery-log-store.ts';
import { insertDeliveries, listMissedEvents, restartDeliveries } from './delivery-store.ts';
import { type EndpointContext, readEndpoint, requireEnabled } from './endpoint.ts';
import type { RecoveryRange, WebhookAttempt, WebhookDelivery, WebhookRecovery } from './schema.ts';

const FILTERS = ['state', 'event_id'] as const;
const DELIVERY_RETENTION_MS = 30 * 86_400_000;

export async function listDeliveries(
  ctx: EndpointContext,
  caller: Pick<Caller, 'partnerId'>,
  id: string,
  query: PageQuery,
  raw: Query,
) {
  const filters = readFilters(raw, FILTERS);
  const wanted = filters.map(({ field, op, values }) => ({ field, isExcluding: op === '!=', values }));
  if (!isId(id)) throw new ApiError('not_found');
  const { partnerId } = caller;
  const list = `webhook deliveries ${partnerId} ${id} ${JSON.stringify(filters)}`;
  const page = await readPage(ctx.sealing, list, query, (keyset) =>
    store.listDeliveries(ctx.db, { partnerId, endpointId: id }, wanted, keyset),
  );
  if (page.data.length === 0) await readEndpoint(ctx, caller, id);
  return { ...page, data: page.data.map(toWire) };
}

export async function readDelivery(
  ctx: EndpointContext,
  { partnerId }: Pick<Caller, 'partnerId'>,
  id: string,
): Promise<WebhookDelivery> {
  return toWire(await findDelivery(ctx.db, partnerId, id));
}

export async function listAttempts(
  ctx: EndpointContext,
  { partnerId }: Pick<Caller, 'partnerId'>,
  id: string,
  query: PageQuery,
) {
  if (!isId(id)) throw new ApiError('not_found');
  const page = await readPage(ctx.sealing, `webhook attempts ${partnerId} ${id}`, query, async (keyset) => {
    const attempts = await store.listAttempts(ctx.db, { partnerId, deliveryId: id }, keyset);
    return attempts.map((attempt) => ({ id: attempt.id, inserted_at: attempt.at, attempt }));
  });
  if (page.data.length === 0) await findDelivery(ctx.db, partnerId, id);
  return { ...page, data: page.data.map(({ attempt }) => toAttempt(attempt)) };
}

/** The worker makes the attempt, outside the retry schedule, with the secret and the user's grants at that time. */
export async function resendDelivery(
  ctx: EndpointContext,
  { partnerId }: Pick<Caller, 'partnerId'>,
  id: string,
): Promise<WebhookDelivery> {
  return ctx.commitReply(async (tx) => {
    const { endpoint_id } = await findDelivery(tx, partnerId, id);
    await requireEnabled(tx, partnerId, endpoint_id);
    await store.requestResend(tx, id);
    return toWire(await findDelivery(tx, partnerId, id));
  });
}

/** Also deletes pending deliveries whose event no longer exists, and deleted endpoints with their deliveries. */
export async function deleteOldDeliveries({ db, clock }: Pick<Context, 'db' | 'clock'>): Promise<void> {
  await store.deleteOldDeliveries(db, toTimestamp((Math.floor(clock.now()) - DELIVERY_RETENTION_MS) * 1000));
}

async function findDelivery(db: Db, partnerId: string, id: string): Promise<store.DeliveryRow> {
  const row = isId(id) ? await store.findDelivery(db, partnerId, id) : undefined;
  if (row === undefined) throw new ApiError('not_found');
  return row;
}

function toWire({ last_attempt, ...row }: store.DeliveryRow): WebhookDelivery {
  return {
    object: 'webhook_delivery',
    ...row,
    last_attempt: last_attempt === null ? null : toAttempt(last_attempt),
  };
}

function toAttempt(attempt: Omit<WebhookAttempt, 'object'>): WebhookAttempt {
  return { object: 'webhook_attempt', ...attempt };
}

const MAX_RECOVERED = 10_000;
const INSERT_BATCH_SIZE = 1_000;
const LATEST_TIME = Date.parse('9999-12-31T23:59:59Z');
/** The maximum difference between the clocks of two nodes, and between an event's id and its timestamp. */
const CLOCK_TOLERANCE_MS = 10_000;

/**
 * Leaves out events older than `DELIVERY_RETENTION_MS` that have no delivery: finished deliveries are deleted then,
 * so they may have been delivered.
 */
export async function recoverDeliveries(
  ctx: EndpointContext,
  { partnerId }: Pick<Caller, 'partnerId'>,
  id: string,
  range: RecoveryRange,
): Promise<WebhookRecovery> {
  const bounds = readBounds(ctx, range);
  return ctx.commitReply(async (tx) => {
    await requireEnabled(tx, partnerId, id);
    const missed = await listMissedEvents(tx, id, bounds, MAX_RECOVERED + 1);
    if (missed.length > MAX_RECOVERED)
      throw invalidField('since', `selects more than ${MAX_RECOVERED} events; use a shorter range`);
    await restartDeliveries(
      tx,
      missed.flatMap(({ delivery_id }) => (delivery_id === null ? [] : [delivery_id])),
    );
    const rows = missed
      .filter(({ delivery_id }) => delivery_id === null)
      .map(({ event_id, subject, sequence }) => ({
        ...{ id: newId(ctx.clock, ctx.random), endpoint_id: id, event_id, subject, sequence },
        inserted_at: toTimestamp(ctx.clock.micros()),
      }));
    for (let at = 0; at < rows.length; at += INSERT_BATCH_SIZE)
      await insertDeliveries(tx, rows.slice(at, at + INSERT_BATCH_SIZE));
    return { object: 'webhook_recovery', endpoint_id: id, deliveries: missed.length };
  });
}

function readBounds({ clock }: EndpointContext, range: RecoveryRange) {
  const since = Math.max(0, Date.parse(range.since));
  const until = Math.min(LATEST_TIME, range.until === undefined ? clock.now() : Date.parse(range.until));
  if (since > until)
    throw range.until === undefined
      ? invalidField('since', 'must not be in the future')
      : invalidField('until', 'must not be before "since"');
  return {
    since: toTimestamp(since * 1000),
    // Includes the whole last millisecond, because the timestamps of events have microseconds.
    until: toTimestamp(Math.floor(until) * 1000 + 999),
    firstId: idAt(since - CLOCK_TOLERANCE_MS, '0'),
    lastId: idAt(until + CLOCK_TOLERANCE_MS, 'f'),
    loggedSince: toTimestamp(Math.floor(clock.now() - DELIVERY_RETENTION_MS + CLOCK_TOLERANCE_MS) * 1000),
  };
}

/** Returns the lowest or highest id that begins with this time; see `newId`. */
function idAt(milliseconds: number, digit: '0' | 'f'): string {
  const time = Math.max(0, Math.floor(milliseconds)).toString(16).padStart(12, '0').slice(-12);
  const d = (count: number) => digit.repeat(count);
  return `${time.slice(0, 8)}-${time.slice(8)}-${d(4)}-${d(4)}-${d(12)}`;
}

/** Uses real time, because attempts are recorded in real time even if the sandbox clock has moved. */
export async function maintainAttemptPartitions(
  { db }: Pick<Context, 'db'>,
  nowMs = realTime(),
): Promise<void> {
  const now = new Date(nowMs);
  const monthStart = (offset: number) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + offset, 1)).toISOString();
  await createPartition(db, monthStart(0), monthStart(1));
  await createPartition(db, monthStart(1), monthStart(2));
  await dropPartitions(db, new Date(nowMs - DELIVERY_RETENTION_MS));
}
