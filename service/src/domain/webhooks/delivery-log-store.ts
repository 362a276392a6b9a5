import { type RawBuilder, type Selectable, sql } from 'kysely';
import { isId } from '../../kernel/ids.ts';
import type { Keyset } from '../../kernel/paging.ts';
import { deleteInBatches } from '../../platform/db/delete-in-batches.ts';
import type { Db } from '../../platform/db/pool.ts';
import type { Database } from '../../platform/db/tables.ts';
import { EVENT_VISIBLE } from '../../platform/events/store.ts';

type Attempt = Omit<Selectable<Database['webhook_attempts']>, 'delivery_id'>;

export type DeliveryRow = Pick<
  Selectable<Database['webhook_deliveries']>,
  'id' | 'endpoint_id' | 'event_id' | 'state' | 'attempts' | 'next_attempt_at' | 'inserted_at'
> & { type: string; last_attempt: Attempt | null };

const ATTEMPT = sql`a.id, a.kind, a.at, a.duration_ms, a.status, a.error, a.address, a.response`;
const DELIVERY = sql`d.id, d.endpoint_id, d.event_id, d.state, d.attempts, d.next_attempt_at, d.inserted_at,
  case when ${EVENT_VISIBLE} then e.type else 'redacted' end as type, a.id as attempt_id, a.kind, a.at, a.duration_ms,
  a.status, a.error, a.address, a.response`;
/** Deliveries whose event and endpoint still exist. */
const DELIVERIES = sql`webhook_deliveries d join events e on e.id = d.event_id
  join webhook_endpoints w on w.id = d.endpoint_id and w.deleted_at is null`;
const LAST_ATTEMPT = sql`left join lateral (select ${ATTEMPT} from webhook_attempts a where a.delivery_id = d.id
  order by a.at desc, a.id desc limit 1) as a on true`;

type JoinedRow = Omit<DeliveryRow, 'last_attempt'> & Omit<Attempt, 'id'> & { attempt_id: string | null };

function toDelivery(row: JoinedRow): DeliveryRow {
  const { attempt_id: id, kind, at, duration_ms, status, error, address, response, ...delivery } = row;
  const attempt = { kind, at, duration_ms, status, error, address, response };
  return { ...delivery, last_attempt: id === null ? null : { id, ...attempt } };
}

type DeliveryFilter = { field: 'state' | 'event_id'; isExcluding: boolean; values: readonly string[] };

export async function listDeliveries(
  db: Db,
  { partnerId, endpointId }: { partnerId: string; endpointId: string },
  filters: readonly DeliveryFilter[],
  keyset: Keyset,
): Promise<DeliveryRow[]> {
  const conditions = filters.map(({ field, isExcluding, values }) => {
    // Compares event ids as UUIDs, so that the query can use the index. Other values match no event.
    const matches =
      field === 'event_id'
        ? sql`d.event_id = any(${values.filter(isId)}::uuid[])`
        : sql`d.state = any(${values})`;
    return isExcluding ? sql`and not ${matches}` : sql`and ${matches}`;
  });
  const { rows } = await sql<JoinedRow>`
    select ${DELIVERY} from ${DELIVERIES} ${LAST_ATTEMPT}
    where d.endpoint_id = ${endpointId} and w.partner_id = ${partnerId} ${sql.join(conditions, sql` `)}
      ${beyond(sql`(d.inserted_at, d.id)`, keyset)} ${ordered(sql`d.inserted_at`, sql`d.id`, keyset)}`.execute(
    db,
  );
  return rows.map(toDelivery);
}

export async function findDelivery(db: Db, partnerId: string, id: string): Promise<DeliveryRow | undefined> {
  const { rows } = await sql<JoinedRow>`
    select ${DELIVERY} from ${DELIVERIES} ${LAST_ATTEMPT}
    where d.id = ${id} and w.partner_id = ${partnerId}`.execute(db);
  return rows.map(toDelivery)[0];
}

export async function listAttempts(
  db: Db,
  { partnerId, deliveryId }: { partnerId: string; deliveryId: string },
  keyset: Keyset,
): Promise<Attempt[]> {
  const { rows } =
    await sql<Attempt>`select ${ATTEMPT} from ${DELIVERIES} join webhook_attempts a on a.delivery_id = d.id
    where d.id = ${deliveryId} and w.partner_id = ${partnerId} ${beyond(sql`(a.at, a.id)`, keyset)}
    ${ordered(sql`a.at`, sql`a.id`, keyset)}`.execute(db);
  return rows;
}

/** Requests a resend. If another resend is being sent, this one follows it. */
export async function requestResend(tx: Db, id: string): Promise<void> {
  await sql`update webhook_deliveries set resend_requested = true, resend_again = resend_lease_until is not null
    where id = ${id}`.execute(tx);
}

function beyond(columns: RawBuilder<unknown>, { direction, position }: Keyset): RawBuilder<unknown> {
  if (position === null) return sql``;
  const operator = sql.raw(direction === 'older' ? '<' : '>');
  return sql`and ${columns} ${operator} (${position.inserted_at}::timestamptz, ${position.id}::uuid)`;
}

function ordered(
  at: RawBuilder<unknown>,
  id: RawBuilder<unknown>,
  { direction, limit }: Keyset,
): RawBuilder<unknown> {
  const order = sql.raw(direction === 'older' ? 'desc' : 'asc');
  return sql`order by ${at} ${order}, ${id} ${order} limit ${limit}`;
}

/**
 * Deletes finished deliveries older than `before`, those whose event no longer exists, and those of deleted
 * endpoints, which are themselves deleted after a day.
 */
export async function deleteOldDeliveries(db: Db, before: string): Promise<void> {
  await deleteInBatches(
    db,
    'webhook_deliveries',
    sql`state <> 'pending' and inserted_at < ${before}::timestamptz`,
  );
  // Without its event, a delivery can no longer be made, and it would block later deliveries about the same subject.
  await deleteInBatches(
    db,
    'webhook_deliveries',
    sql`state = 'pending' and not exists (select from events e where e.id = event_id)`,
  );
  await deleteInBatches(
    db,
    'webhook_deliveries',
    sql`endpoint_id = any(array(select id from webhook_endpoints where deleted_at is not null))`,
  );
  await deleteInBatches(db, 'webhook_endpoints', sql`deleted_at < now() - interval '1 day'`);
}

const DEFAULT = 'webhook_attempts_default';
/**
 * Short, because a statement that waits for a lock on the table holds up all later statements. Housekeeping tries
 * again.
 */
const LOCK_TIMEOUT = sql.raw("set local lock_timeout = '2s'");

/** Creates the partition for the month from `from` to `to`, unless a partition already covers that month. */
export async function createPartition(db: Db, from: string, to: string): Promise<void> {
  const name = `webhook_attempts_${from.slice(0, 7).replace('-', '_')}`;
  await db.transaction().execute(async (tx) => {
    await sql`${LOCK_TIMEOUT}`.execute(tx);
    await sql`select pg_advisory_xact_lock(hashtext('webhook_attempts partitions'))`.execute(tx);
    const isCovered = (await listPartitions(tx)).some(
      ({ since, until }) =>
        until !== null && until > new Date(from) && (since === null || since < new Date(to)),
    );
    if (isCovered) return;
    const table = sql.table(name);
    await sql`create table ${table} (like webhook_attempts including all)`.execute(tx);
    await sql`with moved as (delete from ${sql.table(DEFAULT)} where at >= ${from} and at < ${to} returning *)
      insert into ${table} select * from moved`.execute(tx);
    await sql`alter table webhook_attempts attach partition ${table}
      for values from (${sql.lit(from)}) to (${sql.lit(to)})`.execute(tx);
  });
}

/** Drops partitions in which every attempt is older than `before`, and older attempts in the default partition. */
export async function dropPartitions(db: Db, before: Date): Promise<string[]> {
  const old = (await listPartitions(db)).filter(({ until }) => until !== null && until <= before);
  for (const { name } of old)
    await db.transaction().execute(async (tx) => {
      await sql`${LOCK_TIMEOUT}`.execute(tx);
      await sql`drop table if exists ${sql.table(name)}`.execute(tx);
    });
  // No index covers this condition, but the default partition is almost always empty.
  await deleteInBatches(db, DEFAULT, sql`at < ${before}`);
  return old.map(({ name }) => name);
}

/** The first partition has no start, the default partition neither a start nor an end. */
export async function listPartitions(
  db: Db,
): Promise<{ name: string; since: Date | null; until: Date | null }[]> {
  const { rows } = await sql<{ name: string; since: string | null; until: string | null }>`
    select name, substring(bound from 'FROM \\(''([^'']+)''\\)') as since,
      substring(bound from 'TO \\(''([^'']+)''\\)') as until
    from (select c.relname as name, pg_get_expr(c.relpartbound, c.oid) as bound
      from pg_inherits i join pg_class c on c.oid = i.inhrelid
      where i.inhparent = 'webhook_attempts'::regclass) as partitions order by name`.execute(db);
  const toDate = (text: string | null) => (text === null ? null : new Date(text));
  return rows.map(({ name, since, until }) => ({ name, since: toDate(since), until: toDate(until) }));
}
