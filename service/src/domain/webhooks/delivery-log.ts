import type { Caller } from '../../kernel/access.ts';
import { ApiError } from '../../kernel/errors.ts';
import { isId } from '../../kernel/ids.ts';
import { type PageQuery, readPage } from '../../kernel/paging.ts';
import { toTimestamp } from '../../kernel/wire.ts';
import type { Context } from '../../platform/context/context.ts';
import type { Db } from '../../platform/db/pool.ts';
import { readFilters } from '../../platform/http/filters.ts';
import type { Query } from '../../platform/http/query-string.ts';
import * as store from './delivery-log-store.ts';
import { type EndpointContext, readEndpoint, requireEnabled } from './endpoint.ts';
import type { WebhookAttempt, WebhookDelivery } from './schema.ts';

const FILTERS = ['state', 'event_id'] as const;
export const DELIVERY_RETENTION_MS = 30 * 86_400_000;

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

/**
 * Requests one extra attempt outside the retry schedule. The worker makes the attempt later, with the endpoint's secret
 * and the user's grants at that time.
 */
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

/**
 * Deletes finished deliveries 30 days after they were created. Also deletes pending deliveries whose event no longer
 * exists, and deleted endpoints with their deliveries.
 */
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
