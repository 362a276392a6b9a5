import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { bearerToken, type Caller } from '../../kernel/access.ts';
import { ApiError, invalidField } from '../../kernel/errors.ts';
import { isId } from '../../kernel/ids.ts';
import { readPage } from '../../kernel/paging.ts';
import { toTimestamp } from '../../kernel/wire.ts';
import type { Context } from '../context/context.ts';
import type { Db } from '../db/pool.ts';
import { type Filter, readFilters } from '../http/filters.ts';
import type { Query } from '../http/query-string.ts';
import type { Event, EventQuery } from './schema.ts';
import {
  type Audience,
  type EventFilter,
  type EventRow,
  expireEvents,
  findEvent,
  findOldestEvent,
  forgetExpiredEvents,
  isExpiredEvent,
  listEvents,
  placeEvents,
} from './store.ts';

export const EVENT_FILTERS = ['type', 'user_id', 'subject_id'] as const;
const DEFAULT_LIMIT = 20;

export async function readEvents(ctx: Context, caller: Caller, query: EventQuery, raw: Query) {
  const filters = readFilters(raw, EVENT_FILTERS);
  const wanted = filters.map(toEventFilter);
  if (query.after) return readForward(ctx, caller, wanted, query);
  const list = `events ${caller.partnerId} ${caller.userId} ${JSON.stringify(filters)}`;
  const page = await readPage(ctx.sealing, list, query, async ({ direction, position, limit }) => {
    const from = { direction, sequence: position?.inserted_at ?? null, limit };
    const rows = await listCommitted(ctx.db, caller, wanted, from);
    // This list is ordered by sequence number, so its cursors contain that number instead of a time.
    return rows.map((row) => ({ id: row.id, inserted_at: String(row.sequence), row }));
  });
  return { ...page, data: page.data.map(({ row }) => renderEvent(row)) };
}

async function readForward(
  ctx: Context,
  caller: Caller,
  filters: readonly EventFilter[],
  query: EventQuery,
): Promise<{ object: 'list'; data: Event[] }> {
  const { after = '', limit = DEFAULT_LIMIT } = query;
  if (query.starting_after || query.starting_before)
    throw invalidField('after', 'cannot be combined with starting_after or starting_before');
  const { sequence } = await findStart(ctx, caller, after);
  const from = { direction: 'newer' as const, sequence: String(sequence), limit };
  const rows = await listCommitted(ctx.db, caller, filters, from);
  return { object: 'list', data: rows.map(renderEvent) };
}

/**
 * Returns the event after which to continue reading. If it has expired, even if housekeeping has not deleted it yet,
 * throws `events_expired` with the id of the oldest one that has not.
 */
async function findStart(
  ctx: Pick<Context, 'db' | 'clock' | 'config'>,
  audience: Audience,
  id: string,
): Promise<EventRow> {
  const { db } = ctx;
  const since = retainedSince(ctx);
  const found = isId(id) ? await findCommitted(db, audience, id) : null;
  if (found !== null && found.inserted_at >= since) return found;
  if (found !== null || (isId(id) && (await isExpiredEvent(db, audience, id))))
    throw new ApiError('events_expired', { oldest: await findOldestEvent(db, audience, since) });
  throw invalidField('after', 'is not the id of an event');
}

export async function readEvent(ctx: Context, caller: Caller, id: string): Promise<Event> {
  if (!isId(id)) throw new ApiError('not_found');
  const row = await findCommitted(ctx.db, caller, id);
  if (row === null) throw new ApiError('not_found');
  return renderEvent(row);
}

/** Usually every event has a position, so one statement is enough. */
async function listCommitted(...[db, ...query]: Parameters<typeof listEvents>): Promise<EventRow[]> {
  const { rows, hasUnplaced } = await listEvents(db, ...query);
  if (!hasUnplaced) return rows;
  await placeEvents(db);
  return (await listEvents(db, ...query)).rows;
}

/** Finds an event. If it is not found, assigns positions to newly committed events and looks again. */
async function findCommitted(db: Db, audience: Audience, id: string): Promise<EventRow | null> {
  const found = await findEvent(db, audience, id);
  if (found !== null) return found;
  await placeEvents(db);
  return findEvent(db, audience, id);
}

function toEventFilter({ field, op, values }: Filter<(typeof EVENT_FILTERS)[number]>): EventFilter {
  return { field, isExcluding: op === '!=', values };
}

/** An event that the partner may not read keeps its place in the log but is redacted. */
export function renderEvent(row: EventRow): Event {
  const place = {
    object: 'event' as const,
    id: row.id,
    type: row.visible ? row.type : 'redacted',
    timestamp: row.inserted_at,
    sequence: Number(row.sequence),
  };
  if (!row.visible) return { ...place, user_id: null, request_id: null, data: {} };
  return {
    ...place,
    user_id: row.user_id,
    request_id: row.request_id,
    data: row.data,
    ...(row.changes !== null && { changes: row.changes }),
    ...(row.related !== null && { related: row.related }),
  };
}

const DAY_MS = 86_400_000;

/** Events that were inserted earlier have expired, even if housekeeping has not deleted them yet. */
function retainedSince({ clock, config }: Pick<Context, 'clock' | 'config'>): string {
  return toTimestamp((Math.floor(clock.now()) - config.eventsRetentionDays * DAY_MS) * 1000);
}

/** So long, resuming from a deleted event returns 410. After that, the id counts as unknown. */
const EXPIRED_IDS_RETENTION = '1 year';

export async function deleteExpiredEvents(ctx: Pick<Context, 'db' | 'clock' | 'config'>): Promise<void> {
  const before = retainedSince(ctx);
  while (await expireEvents(ctx.db, before));
  await forgetExpiredEvents(ctx.db, EXPIRED_IDS_RETENTION);
}

/** After `Last-Event-ID` or `after`; without either, only new events. */
export async function openStream(
  ctx: Context,
  caller: Caller,
  query: { after?: string },
  headers: IncomingHttpHeaders,
): Promise<Readable> {
  // A reconnecting client repeats the original URL, so the `Last-Event-ID` header is newer than the `after` parameter.
  const header = headers['last-event-id'];
  const after = (typeof header === 'string' && header !== '' ? header : query.after) ?? '';
  return ctx.streams.open(caller, bearerToken(headers.authorization), async () => {
    if (after === '') return null;
    return (await findStart(ctx, caller, after)).position;
  });
}
