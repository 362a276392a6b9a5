import { type RawBuilder, type Selectable, sql } from 'kysely';
import { isId } from '../../kernel/ids.ts';
import { deleteInBatches } from '../db/delete-in-batches.ts';
import type { Db } from '../db/pool.ts';
import type { Database } from '../db/tables.ts';

/**
 * An SQL condition: whether the event `e` may be read by the partner that it is for. See the migration that defines
 * `event_visible`.
 */
export const EVENT_VISIBLE = sql`event_visible(e.partner_id, e.user_id, e.type)`;

export const EVENTS_CHANNEL = 'events';

const PLACE_BATCH_SIZE = 1_000;

type EventInsert = Pick<
  Selectable<Database['events']>,
  'id' | 'partner_id' | 'user_id' | 'type' | 'data' | 'changes' | 'related' | 'request_id' | 'inserted_at'
>;

/** Inserts the rows in the given order. Does not use NOTIFY, which would make all writers commit one at a time. */
export async function insertEvents(tx: Db, rows: readonly EventInsert[]): Promise<void> {
  await sql`
    insert into events (id, partner_id, user_id, type, data, changes, related, request_id, inserted_at)
    select id, partner_id, user_id, type, data, changes, related, request_id, inserted_at
    from json_to_recordset(${JSON.stringify(rows)}) as e (id uuid, partner_id uuid, user_id uuid, type text, data jsonb,
      changes jsonb, related jsonb, request_id text, inserted_at timestamptz)`.execute(tx);
}

/**
 * Readers of the log see only events with a position. New positions are always higher than existing ones, so a reader
 * that remembers its last position never misses an event or reads one twice.
 */
export async function placeEvents(db: Db): Promise<void> {
  for (;;) {
    const { rows } = await sql<{ placed: number }>`
      select case when exists (select from events where position is null)
        then place_events(${PLACE_BATCH_SIZE}) else 0 end as placed`.execute(db);
    if ((rows[0]?.placed ?? 0) < PLACE_BATCH_SIZE) return;
  }
}

/** An event that has a position. `renderEvent` redacts it if `visible` is false. */
export type EventRow = Omit<Selectable<Database['events']>, 'written' | 'position' | 'sequence'> & {
  position: bigint;
  sequence: bigint;
  /** False if the event is about a user who has not given the partner permission to read it, or has withdrawn it. */
  visible: boolean;
};

const COLUMNS = sql`e.id, e.position, e.sequence, e.partner_id, e.user_id, e.type, e.data, e.changes, e.related,
  e.request_id, e.inserted_at, ${EVENT_VISIBLE} as visible`;

export type Audience = { partnerId: string; userId: string | null };

function visibleTo({ partnerId, userId }: Audience): RawBuilder<unknown> {
  const own = userId === null ? sql`` : sql`and e.user_id = ${userId}`;
  return sql`e.sequence is not null and e.partner_id = ${partnerId} ${own}`;
}

export async function listEventReaders(db: Db, userId: string, type: string): Promise<string[]> {
  const { rows } = await sql<{ partner_id: string }>`
    select distinct c.partner_id from oauth_grants g join oauth_clients c on c.client_id = g.client_id
    where g.user_id = ${userId} and g.revoked_at is null and event_visible(c.partner_id, ${userId}, ${type})
    order by c.partner_id`.execute(db);
  return rows.map(({ partner_id }) => partner_id);
}

/** To the caller, a redacted event has the type `redacted`, no user and no subject. */
export type EventFilter = {
  field: 'type' | 'user_id' | 'subject_id';
  isExcluding: boolean;
  values: readonly string[];
};

function matching({ field, isExcluding, values }: EventFilter): RawBuilder<unknown> {
  // Compares user ids as UUIDs, so that the index can be used. A value that is not a UUID matches no user.
  const equals = {
    type: sql`e.type = any(${values})`,
    user_id: sql`e.user_id = any(${values.filter(isId)}::uuid[])`,
    subject_id: sql`e.data ->> 'id' = any(${values})`,
  }[field];
  const redacted = field === 'type' && values.includes('redacted') ? sql`or not ${EVENT_VISIBLE}` : sql``;
  const matches = sql`((${equals} and ${EVENT_VISIBLE}) ${redacted})`;
  return isExcluding ? sql`${matches} is not true` : matches;
}

type EventList = {
  rows: EventRow[];
  /** Whether there were committed events without a position. `rows` does not include them. */
  hasUnplaced: boolean;
};

/**
 * Before (`older`) or after (`newer`) a sequence number, nearest first; if it is null, from the newest or the oldest.
 */
export async function listEvents(
  db: Db,
  audience: Audience,
  filters: readonly EventFilter[],
  from: { direction: 'older' | 'newer'; sequence: string | null; limit: number },
): Promise<EventList> {
  const isOlder = from.direction === 'older';
  const order = sql.raw(isOlder ? 'desc' : 'asc');
  const conditions = filters.map((filter) => sql`and ${matching(filter)}`);
  const beyond =
    from.sequence === null
      ? sql``
      : sql`and e.sequence ${sql.raw(isOlder ? '<' : '>')} ${from.sequence}::bigint`;
  // The left join returns one row without an event if no event matches.
  const { rows } = await sql<EventRow & { id: string | null; has_unplaced: boolean }>`
    select found.*, unplaced.found as has_unplaced
    from (select exists (select from events where position is null) as found) as unplaced
    left join (
      select ${COLUMNS} from events e where ${visibleTo(audience)} ${sql.join(conditions, sql` `)} ${beyond}
      order by e.sequence ${order} limit ${from.limit}
    ) as found on true
    order by found.sequence ${order}`.execute(db);
  return { rows: rows.filter(({ id }) => id !== null), hasUnplaced: rows[0]?.has_unplaced ?? false };
}

/**
 * For streams, oldest first. Sorts by `sequence`, because the index on `user_id` includes it but not `position`;
 * within one partner, both give the same order.
 */
export async function readEventsAfter(
  db: Db,
  partnerId: string,
  position: bigint,
  limit: number,
  userId: string | null = null,
): Promise<EventRow[]> {
  const { rows } = await sql<EventRow>`
    select ${COLUMNS} from events e where ${visibleTo({ partnerId, userId })} and e.sequence > coalesce((
      select s.sequence from events s where s.partner_id = ${partnerId} and s.position <= ${position}
      order by s.position desc limit 1), 0)
    order by e.sequence limit ${limit}`.execute(db);
  return rows;
}

export async function readEventsBetween(
  db: Db,
  partnerIds: readonly string[],
  { after, upTo }: { after: bigint; upTo: bigint },
  limit: number,
): Promise<EventRow[]> {
  const { rows } = await sql<EventRow>`
    select ${COLUMNS} from events e
    where e.position > ${after} and e.position <= ${upTo} and e.partner_id = any(${partnerIds}::uuid[])
    order by e.position limit ${limit}`.execute(db);
  return rows;
}

export async function readLastPosition(db: Db): Promise<bigint> {
  const { rows } = await sql<{ position: bigint | null }>`
    select max(position) as position from events where position is not null`.execute(db);
  return rows[0]?.position ?? 0n;
}

export async function findEvent(db: Db, audience: Audience, id: string): Promise<EventRow | null> {
  const { rows } = await sql<EventRow>`
    select ${COLUMNS} from events e where e.id = ${id} and ${visibleTo(audience)}`.execute(db);
  return rows[0] ?? null;
}

export async function findOldestEvent(db: Db, audience: Audience, since: string): Promise<string | null> {
  const { rows } = await sql<{ id: string }>`select e.id from events e
    where ${visibleTo(audience)} and e.inserted_at >= ${since} order by e.sequence limit 1`.execute(db);
  return rows[0]?.id ?? null;
}

export async function isExpiredEvent(db: Db, { partnerId, userId }: Audience, id: string): Promise<boolean> {
  const { rows } = await sql`select from expired_events where id = ${id} and partner_id = ${partnerId}
    and (${userId}::uuid is null or user_id = ${userId})`.execute(db);
  return rows.length > 0;
}

const EXPIRY_BATCH_SIZE = 5_000;

/**
 * Stops at the first event that was inserted at or after `before`, so that the remaining events have no gaps. Returns
 * whether there may be more to delete.
 */
export async function expireEvents(db: Db, before: string): Promise<boolean> {
  const { numAffectedRows } = await sql`
    with oldest as (
      select position, inserted_at from events where position is not null order by position limit ${EXPIRY_BATCH_SIZE}
    ), gone as (
      delete from events where position <= (select max(position) from oldest)
        and position < coalesce((select min(position) from oldest where inserted_at >= ${before}), 9223372036854775807)
      returning id, partner_id, user_id
    )
    insert into expired_events (id, partner_id, user_id) select id, partner_id, user_id from gone
    on conflict do nothing`.execute(db);
  return Number(numAffectedRows ?? 0n) === EXPIRY_BATCH_SIZE;
}

export async function forgetExpiredEvents(db: Db, retention: string): Promise<void> {
  await deleteInBatches(db, 'expired_events', sql`expired_at < now() - ${retention}::interval`);
}
