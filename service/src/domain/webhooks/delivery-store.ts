import { type Insertable, sql } from 'kysely';
import type { Db } from '../../platform/db/pool.ts';
import type { Database } from '../../platform/db/tables.ts';
import type { EventRow } from '../../platform/events/store.ts';
import { EVENT_VISIBLE } from '../../platform/events/store.ts';

const LEASE = sql.raw("interval '60 seconds'");
const RETRY_PERIOD = sql.raw("interval '24 hours'");

/**
 * Deliveries with the same subject are sent one at a time. Test events have none, so they do not wait for each other.
 */
const SUBJECT = sql`case when e.data ->> 'id' is not null and e.type <> 'webhook.test' then concat(e.user_id, ' ', e.data ->> 'id') end`;

/** A redacted event is not matched by its type, because its delivery would then reveal the type. */
const WANTED = sql`(
  '*' = any(w.types)
  or (${EVENT_VISIBLE} and (e.type = any(w.types) or split_part(e.type, '.', 1) || '.*' = any(w.types)))
  or (not ${EVENT_VISIBLE} and 'redacted' = any(w.types))
  or (e.type = 'webhook.test' and e.data ->> 'id' = w.id::text)
)`;

export async function listEndpointsBehind(db: Db): Promise<{ id: string }[]> {
  const { rows } = await sql<{ id: string }>`
    select w.id from webhook_endpoints w join partner_sequences s on s.partner_id = w.partner_id
      join partners p on p.id = w.partner_id
    where w.state <> 'disabled' and p.disabled_at is null and w.cursor < s.last`.execute(db);
  return rows;
}

type NewEvents = {
  cursor: bigint | null;
  wanted: { event_id: string; subject: string | null; sequence: bigint }[];
  isMore: boolean;
};

/** Locks the endpoint. Reads nothing if it is disabled or another node has locked it. */
export async function readNewEvents(tx: Db, endpointId: string, limit: number): Promise<NewEvents> {
  const { rows } = await sql<NewEvents['wanted'][number] & { is_wanted: boolean }>`
    with w as materialized (
      select * from webhook_endpoints where id = ${endpointId} and state <> 'disabled' for update skip locked
    )
    select e.id as event_id, ${SUBJECT} as subject, e.sequence, ${WANTED} as is_wanted
    from w join events e on e.partner_id = w.partner_id and e.sequence > w.cursor
    order by e.sequence limit ${limit}`.execute(tx);
  return {
    cursor: rows.at(-1)?.sequence ?? null,
    wanted: rows.filter(({ is_wanted }) => is_wanted),
    isMore: rows.length === limit,
  };
}

export async function insertDeliveries(
  tx: Db,
  rows: readonly Insertable<Database['webhook_deliveries']>[],
): Promise<void> {
  // Passes all rows in one parameter, so that batches of any size use the same prepared statement.
  await sql`insert into webhook_deliveries (id, endpoint_id, event_id, subject, sequence, inserted_at)
    select id, endpoint_id, event_id, subject, sequence, inserted_at
    from json_populate_recordset(null::webhook_deliveries, ${toJson(rows)}::json)
    on conflict (endpoint_id, event_id) do nothing`.execute(tx);
}

export async function moveCursor(tx: Db, endpointId: string, cursor: bigint): Promise<void> {
  await sql`update webhook_endpoints set cursor = ${cursor} where id = ${endpointId}`.execute(tx);
}

function toJson(rows: readonly object[]): string {
  return JSON.stringify(rows, (_key, value) => (typeof value === 'bigint' ? String(value) : value));
}

const IS_DUE = sql`d.next_attempt_at <= now() and (d.lease_until is null or d.lease_until <= now())`;

/**
 * The head of each subject is its first pending delivery, the only one that may be sent. Triggers maintain `is_head`:
 * see the migration `0012_webhooks`.
 */
const IS_HEAD = sql`d.state = 'pending' and d.is_head`;

const IS_RESEND_DUE = sql`d.resend_requested and (d.resend_lease_until is null or d.resend_lease_until <= now())`;

type EndpointWithWork = { id: string; partner_id: string; has_due: boolean; has_resends: boolean };

/**
 * `has_due` uses `order by` with `limit 1`, so that PostgreSQL uses the index on heads. With `exists`, it expects to
 * find a row soon and reads the whole table if there is none.
 */
export async function listEndpointsWithWork(db: Db, busy: readonly string[]): Promise<EndpointWithWork[]> {
  const { rows } = await sql<EndpointWithWork>`
    select * from (
      select w.id, w.partner_id,
        (select d.id from webhook_deliveries d where d.endpoint_id = w.id and ${IS_HEAD} and ${IS_DUE}
          order by d.next_attempt_at, d.sequence limit 1) is not null as has_due,
        exists (select from webhook_deliveries d where d.endpoint_id = w.id and ${IS_RESEND_DUE}) as has_resends
      from webhook_endpoints w join partners p on p.id = w.partner_id
      where w.state <> 'disabled' and p.disabled_at is null and w.id <> all(${busy}::uuid[])
    ) as found where has_due or has_resends
    order by id`.execute(db);
  return rows;
}

export type ClaimedDelivery = EventRow & {
  delivery_id: string;
  endpoint_id: string;
  kind: 'scheduled' | 'resend';
  attempts: number;
  step: number;
  /** When the lease of a resend ends. This time also identifies the claim, because a later claim has a later lease. */
  resend_lease_until: string | null;
  url: string;
  sealed_secret: Buffer;
  previous_sealed_secret: Buffer | null;
};

const CLAIMED = sql`d.id as delivery_id, d.endpoint_id, d.attempts, d.step, d.resend_lease_until, w.url, w.sealed_secret,
  case when w.previous_secret_until > now() then w.previous_sealed_secret end as previous_sealed_secret,
  e.id, e.position, e.sequence, e.partner_id, e.user_id, e.type, e.data, e.changes, e.related, e.request_id,
  e.inserted_at, ${EVENT_VISIBLE} as visible`;

/**
 * More than a claim takes, because another node may be claiming some of them. Part of the SQL text: with a parameter,
 * PostgreSQL would plan every claim again, which takes longer than the claim itself.
 */
const MAX_FOUND = sql.raw('32');

/**
 * Claims only heads, so that deliveries with the same subject are sent one at a time. If the process dies, the lease
 * expires and the delivery is due again.
 */
export async function claimDeliveries(db: Db, endpointId: string, limit: number): Promise<ClaimedDelivery[]> {
  const { rows } = await sql<ClaimedDelivery>`
    with found as materialized (
      select d.id from webhook_deliveries d where d.endpoint_id = ${endpointId} and ${IS_HEAD} and ${IS_DUE}
      order by d.next_attempt_at, d.sequence limit ${MAX_FOUND}
    ), due as materialized (
      select d.id from webhook_deliveries d where d.id in (select id from found) and ${IS_HEAD} and ${IS_DUE}
      order by d.next_attempt_at, d.sequence limit ${limit} for update of d skip locked
    )
    update webhook_deliveries d set attempts = d.attempts + 1, step = d.step + 1, lease_until = now() + ${LEASE},
      retry_until = coalesce(d.retry_until, now() + ${RETRY_PERIOD})
    from due, webhook_endpoints w, events e
    where d.id = due.id and w.id = d.endpoint_id and w.state <> 'disabled' and e.id = d.event_id
    returning ${CLAIMED}, 'scheduled' as kind`.execute(db);
  return rows.sort((a, b) => (a.sequence < b.sequence ? -1 : 1));
}

/** Claims requested resends. A resend does not change the retry schedule of a delivery that is still pending. */
export async function claimResends(db: Db, endpointId: string, limit: number): Promise<ClaimedDelivery[]> {
  const { rows } = await sql<ClaimedDelivery>`
    with due as materialized (
      select d.id from webhook_deliveries d where d.endpoint_id = ${endpointId} and ${IS_RESEND_DUE}
      order by d.sequence limit ${limit} for update of d skip locked
    )
    update webhook_deliveries d set attempts = d.attempts + 1, resend_lease_until = now() + ${LEASE}, resend_again = false
    from due, webhook_endpoints w, events e
    where d.id = due.id and w.id = d.endpoint_id and w.state <> 'disabled' and e.id = d.event_id
    returning ${CLAIMED}, 'resend' as kind`.execute(db);
  return rows;
}

export async function insertAttempt(
  tx: Db,
  attempt: Insertable<Database['webhook_attempts']>,
): Promise<void> {
  await tx.insertInto('webhook_attempts').values(attempt).execute();
}

export async function markDelivered(tx: Db, id: string): Promise<void> {
  await sql`update webhook_deliveries set state = 'delivered', next_attempt_at = null, lease_until = null where id = ${id}`.execute(
    tx,
  );
}

/**
 * If `delayMs` is null or the retry period is over, marks the delivery as failed and returns true. Does nothing if
 * another worker has claimed it.
 */
export async function planRetry(
  tx: Db,
  { delivery_id, step }: ClaimedDelivery,
  delayMs: number | null,
): Promise<boolean> {
  const { rows } = await sql<{ state: string }>`
    update webhook_deliveries set lease_until = null,
      state = case when ${delayMs}::int is null or now() >= retry_until then 'failed' else 'pending' end,
      next_attempt_at = case when ${delayMs}::int is null or now() >= retry_until then null
        else least(now() + ${delayMs}::int * interval '1 millisecond', retry_until) end
    where id = ${delivery_id} and state = 'pending' and step = ${step} and lease_until is not null
    returning state`.execute(tx);
  return rows[0]?.state === 'failed';
}

/** Ends a resend. If another resend was requested in the meantime, the new resend is due now. */
export async function finishResend(tx: Db, delivery: ClaimedDelivery): Promise<void> {
  await sql`update webhook_deliveries set resend_requested = resend_again, resend_again = false, resend_lease_until = null
    where id = ${delivery.delivery_id} and resend_lease_until = ${delivery.resend_lease_until}`.execute(tx);
}

export async function releaseDelivery(
  db: Db,
  { delivery_id, kind, step, resend_lease_until }: ClaimedDelivery,
): Promise<void> {
  if (kind === 'resend')
    await sql`update webhook_deliveries set resend_lease_until = null, attempts = attempts - 1
      where id = ${delivery_id} and resend_lease_until = ${resend_lease_until}`.execute(db);
  else
    await sql`update webhook_deliveries set lease_until = null, step = step - 1, attempts = attempts - 1
      where id = ${delivery_id} and state = 'pending' and step = ${step}`.execute(db);
}

type MissedEvent = {
  event_id: string;
  subject: string | null;
  sequence: bigint;
  /** Null if the endpoint was disabled when the event happened, and was enabled later with `from` set to `now`. */
  delivery_id: string | null;
};

type Range = {
  since: string;
  until: string;
  firstId: string;
  lastId: string;
  loggedSince: string;
};

/**
 * Returns events whose delivery failed, was skipped or never existed, and that the endpoint subscribes to and has
 * reached. Those from before `loggedSince` need a delivery, because a successful one may have been deleted. `firstId`
 * and `lastId` limit the range by an index, because ids begin with the time.
 */
export async function listMissedEvents(
  tx: Db,
  endpointId: string,
  { since, until, firstId, lastId, loggedSince }: Range,
  limit: number,
): Promise<MissedEvent[]> {
  const { rows } = await sql<MissedEvent>`
    select e.id as event_id, ${SUBJECT} as subject, e.sequence, d.id as delivery_id
    from webhook_endpoints w join events e on e.partner_id = w.partner_id and e.sequence <= w.cursor
      left join webhook_deliveries d on d.endpoint_id = w.id and d.event_id = e.id
    where w.id = ${endpointId} and e.id between ${firstId}::uuid and ${lastId}::uuid
      and e.inserted_at between ${since}::timestamptz and ${until}::timestamptz
      and (d.state in ('failed', 'skipped') or (d.id is null and e.inserted_at >= ${loggedSince}::timestamptz))
      and ${WANTED}
    order by e.sequence limit ${limit}`.execute(tx);
  return rows;
}

export async function restartDeliveries(tx: Db, ids: readonly string[]): Promise<void> {
  await sql`update webhook_deliveries set state = 'pending', step = 0, retry_until = null, next_attempt_at = now()
    where id = any(${ids}::uuid[]) and state in ('failed', 'skipped')`.execute(tx);
}
