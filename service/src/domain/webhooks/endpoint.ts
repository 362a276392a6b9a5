import type { Caller } from '../../kernel/access.ts';
import { ApiError, invalidField } from '../../kernel/errors.ts';
import { isId, newId } from '../../kernel/ids.ts';
import { type PageQuery, readPage } from '../../kernel/paging.ts';
import { toTimestamp } from '../../kernel/wire.ts';
import type { Context } from '../../platform/context/context.ts';
import type { Db } from '../../platform/db/pool.ts';
import { appendEvent, type EventSource } from '../../platform/events/event.ts';
import { placeEvents } from '../../platform/events/store.ts';
import * as store from './endpoint-store.ts';
import { lockOutdatedSecrets, updateEndpoint } from './endpoint-store.ts';
import type { Enabling, EndpointChange, NewEndpoint, WebhookEndpoint } from './schema.ts';
import { newWebhookSecret } from './signature.ts';

export type EndpointContext = Pick<
  Context,
  'db' | 'clock' | 'random' | 'sealing' | 'commitReply' | 'webhooks'
> &
  EventSource;

type PartnerCaller = Pick<Caller, 'partnerId'>;

const MAX_ENDPOINTS = 20;
const DEFAULT_GRACE_HOURS = 24;
export const SECRET_PURPOSE = 'webhook secret';

export async function createEndpoint(
  ctx: EndpointContext,
  { partnerId }: PartnerCaller,
  { url, types, description = null }: NewEndpoint,
): Promise<WebhookEndpoint> {
  assertKnownTypes(types);
  await ctx.webhooks.checkUrl(url);
  const id = newId(ctx.clock, ctx.random);
  const { secret, sealed } = createSecret(ctx, id);
  return ctx.commitReply(async (tx) => {
    const row = {
      ...{ id, partner_id: partnerId, url, types, description, sealed_secret: sealed },
      inserted_at: toTimestamp(ctx.clock.micros()),
    };
    if (!(await store.insertEndpoint(tx, row, MAX_ENDPOINTS)))
      throw new ApiError('webhook_endpoint_limit_reached', { max: MAX_ENDPOINTS });
    return { ...(await readRow(tx, partnerId, id)), secret };
  });
}

export async function listEndpoints(ctx: EndpointContext, { partnerId }: PartnerCaller, query: PageQuery) {
  const page = await readPage(ctx.sealing, `webhook endpoints ${partnerId}`, query, (keyset) =>
    store.listEndpoints(ctx.db, partnerId, keyset),
  );
  return { ...page, data: page.data.map(toWire) };
}

export async function readEndpoint(
  ctx: EndpointContext,
  caller: PartnerCaller,
  id: string,
): Promise<WebhookEndpoint> {
  return readRow(ctx.db, caller.partnerId, id);
}

export async function changeEndpoint(
  ctx: EndpointContext,
  { partnerId }: PartnerCaller,
  id: string,
  change: EndpointChange,
): Promise<WebhookEndpoint> {
  assertKnownTypes(change.types ?? []);
  if (change.url !== undefined) {
    await readRow(ctx.db, partnerId, id);
    await ctx.webhooks.checkUrl(change.url);
  }
  return withEndpoint(ctx, partnerId, id, async (tx) => {
    await store.updateEndpoint(tx, id, change);
  });
}

export async function removeEndpoint(
  ctx: EndpointContext,
  { partnerId }: PartnerCaller,
  id: string,
): Promise<WebhookEndpoint> {
  return ctx.commitReply(async (tx) => {
    await lock(tx, partnerId, id);
    const last = await readRow(tx, partnerId, id);
    await store.deleteEndpoint(tx, id);
    return last;
  });
}

export async function rotateEndpointSecret(
  ctx: EndpointContext,
  { partnerId }: PartnerCaller,
  id: string,
  graceHours = DEFAULT_GRACE_HOURS,
): Promise<WebhookEndpoint> {
  const { secret, sealed } = createSecret(ctx, id);
  return ctx.commitReply(async (tx) => {
    await lock(tx, partnerId, id);
    const { previous_secret_until: until } = await readRow(tx, partnerId, id);
    // At most two secrets are valid at a time, because each adds a signature to every delivery. A rotation with
    // `graceHours` 0 ends an earlier grace period.
    if (until !== null && graceHours > 0) throw new ApiError('secret_rotation_in_progress', { until });
    await store.replaceSecret(tx, id, sealed, graceHours);
    return { ...(await readRow(tx, partnerId, id)), secret };
  });
}

export async function disableEndpoint(ctx: EndpointContext, { partnerId }: PartnerCaller, id: string) {
  return withEndpoint(ctx, partnerId, id, (tx) => store.disableEndpoint(tx, id, 'requested'));
}

export async function enableEndpoint(
  ctx: EndpointContext,
  { partnerId }: PartnerCaller,
  id: string,
  { from = 'stopped' }: Enabling,
) {
  if (from === 'now') await placeEvents(ctx.db);
  return withEndpoint(ctx, partnerId, id, async (tx) => {
    const { state } = await readRow(tx, partnerId, id);
    if (state !== 'disabled') return;
    if (from === 'now') await store.skipToNow(tx, id);
    await store.enableEndpoint(tx, id);
  });
}

/** Appends a `webhook.test` event, which the endpoint receives regardless of its event types. */
export async function testEndpoint(ctx: EndpointContext, { partnerId }: PartnerCaller, id: string) {
  return ctx.commitReply(async (tx) => {
    await requireEnabled(tx, partnerId, id);
    const event_id = await appendEvent(ctx, tx, {
      ...{ partnerId, userId: null, type: 'webhook.test' },
      data: { object: 'webhook_endpoint', id },
    });
    return { object: 'webhook_test' as const, endpoint_id: id, event_id };
  });
}

/** Throws `endpoint_disabled` if it is disabled. */
export async function requireEnabled(tx: Db, partnerId: string, id: string): Promise<void> {
  await lock(tx, partnerId, id);
  const { state } = await readRow(tx, partnerId, id);
  if (state === 'disabled') throw new ApiError('endpoint_disabled');
}

function withEndpoint(
  ctx: EndpointContext,
  partnerId: string,
  id: string,
  change: (tx: Db) => Promise<void>,
): Promise<WebhookEndpoint> {
  return ctx.commitReply(async (tx) => {
    await lock(tx, partnerId, id);
    await change(tx);
    return readRow(tx, partnerId, id);
  });
}

async function lock(tx: Db, partnerId: string, id: string): Promise<void> {
  if (!isId(id) || !(await store.lockEndpoint(tx, partnerId, id))) throw new ApiError('not_found');
}

async function readRow(db: Db, partnerId: string, id: string): Promise<WebhookEndpoint> {
  const row = isId(id) ? await store.findEndpoint(db, partnerId, id) : undefined;
  if (row === undefined) throw new ApiError('not_found');
  return toWire(row);
}

function createSecret({ random, sealing }: EndpointContext, id: string): { secret: string; sealed: Buffer } {
  const secret = newWebhookSecret(random);
  return { secret, sealed: sealing.seal(SECRET_PURPOSE, Buffer.from(secret), id) };
}

function toWire(row: store.EndpointRow): WebhookEndpoint {
  return {
    object: 'webhook_endpoint',
    id: row.id,
    url: row.url,
    types: row.types,
    description: row.description,
    state: row.state,
    disabled_reason: row.disabled_reason,
    previous_secret_until: row.previous_secret_until,
    behind: Number(row.behind),
    last_delivered_at: row.last_delivered_at,
    inserted_at: row.inserted_at,
  };
}

/** Reseals under the newest `CAUSEWAY_SECRET`. Returns how many endpoints it changed. */
export async function resealEndpointSecrets({
  db,
  sealing,
}: Pick<Context, 'db' | 'sealing'>): Promise<number> {
  return db.transaction().execute(async (tx) => {
    const rows = await lockOutdatedSecrets(tx, sealing.newestKeyId);
    for (const { id, sealed_secret, previous_sealed_secret } of rows) {
      const reseal = (sealed: Buffer) =>
        sealing.seal(SECRET_PURPOSE, sealing.open(SECRET_PURPOSE, sealed, id), id);
      await updateEndpoint(tx, id, {
        sealed_secret: reseal(sealed_secret),
        previous_sealed_secret: previous_sealed_secret === null ? null : reseal(previous_sealed_secret),
      });
    }
    return rows.length;
  });
}

/** Endpoints cannot subscribe to any other name, because a misspelled name would never match an event. */
const EVENT_TYPES: Record<string, readonly string[]> = {
  participation: [
    ...['prepared', 'pending', 'submitted', 'completed', 'failed'],
    ...['remit_submitted', 'remitted', 'remit_failed'],
  ],
  requirement: ['status_changed'],
  document_submission: ['initialized', 'sent', 'viewed', 'completed', 'declined', 'expired'],
  wallet: ['bound', 'unbound', 'allowed', 'revoked'],
  tokenized_swap: ['issued', 'executed', 'expired'],
  offer: ['published', 'started', 'ended'],
  webhook_endpoint: ['disabled', 'recovered'],
  webhook: ['test'],
};

/** Throws `validation_failed` unless each entry is an event type, a group such as `wallet.*`, `redacted`, or `*`. */
function assertKnownTypes(types: readonly string[]): void {
  const unknown = types.find((type) => !isKnown(type));
  if (unknown !== undefined) throw invalidField('types', `"${unknown}" is not an event type`);
}

function isKnown(type: string): boolean {
  if (type === '*' || type === 'redacted') return true;
  const [group = '', name = ''] = type.split('.');
  const names = Object.hasOwn(EVENT_TYPES, group) ? EVENT_TYPES[group] : undefined;
  return names !== undefined && (name === '*' || names.includes(name));
}
