import { type RawBuilder, type Selectable, sql } from 'kysely';
import { deleteInBatches } from '../db/delete-in-batches.ts';
import type { Db } from '../db/pool.ts';
import type { WebhookAttempts, WebhookDeliveries } from '../db/webhook-tables.ts';
import type { Keyset } from '../http/paging.ts';
import { VISIBLE } from './delivery-store.ts';

type Attempt = Omit<Selectable<WebhookAttempts>, 'delivery_id'>;

export type DeliveryRow = Pick<
  Selectable<WebhookDeliveries>,
  'id' | 'endpoint_id' | 'event_id' | 'state' | 'attempts' | 'next_attempt_at' | 'inserted_at'
> & { type: string; last_attempt: Attempt | null };

const ATTEMPT = sql`a.id, a.kind, a.at, a.duration_ms, a.status, a.error, a.address, a.response`;
const DELIVERY = sql`d.id, d.endpoint_id, d.event_id, d.state, d.attempts, d.next_attempt_at, d.inserted_at,
  case when ${VISIBLE} then e.type else 'redacted' end as type`;

export type DeliveryFilter = { field: 'state' | 'event_id'; isExcluding: boolean; values: readonly string[] };

/** Lists the deliveries of an endpoint whose events still exist. */
export async function listDeliveries(
  db: Db,
  endpointId: string,
  filters: readonly DeliveryFilter[],
  keyset: Keyset,
): Promise<DeliveryRow[]> {
  const conditions = filters.map(({ field, isExcluding, values }) => {
    const matches = sql`d.${sql.ref(field)}::text = any(${values})`;
    return isExcluding ? sql`and not ${matches}` : sql`and ${matches}`;
  });
  const { rows } = await sql<Omit<DeliveryRow, 'last_attempt'>>`
    select ${DELIVERY} from webhook_deliveries d join events e on e.id = d.event_id
    where d.endpoint_id = ${endpointId} ${sql.join(conditions, sql` `)}
      ${beyond(sql`(d.inserted_at, d.id)`, keyset)} ${ordered(sql`d.inserted_at`, sql`d.id`, keyset)}`.execute(
    db,
  );
  return withLastAttempts(db, rows);
}

export async function findDelivery(db: Db, partnerId: string, id: string): Promise<DeliveryRow | undefined> {
  const { rows } = await sql<Omit<DeliveryRow, 'last_attempt'>>`
    select ${DELIVERY} from webhook_deliveries d join events e on e.id = d.event_id
      join webhook_endpoints w on w.id = d.endpoint_id
    where d.id = ${id} and w.partner_id = ${partnerId} and w.deleted_at is null`.execute(db);
  return (await withLastAttempts(db, rows))[0];
}

async function withLastAttempts(
  db: Db,
  rows: readonly Omit<DeliveryRow, 'last_attempt'>[],
): Promise<DeliveryRow[]> {
  const { rows: attempts } = await sql<Attempt & { delivery_id: string }>`
    select distinct on (a.delivery_id) a.delivery_id, ${ATTEMPT} from webhook_attempts a
    where a.delivery_id = any(${rows.map(({ id }) => id)}::uuid[])
    order by a.delivery_id, a.at desc, a.id desc`.execute(db);
  const byDelivery = new Map(attempts.map(({ delivery_id, ...attempt }) => [delivery_id, attempt]));
  return rows.map((row) => ({ ...row, last_attempt: byDelivery.get(row.id) ?? null }));
}

export async function listAttempts(db: Db, deliveryId: string, keyset: Keyset): Promise<Attempt[]> {
  const { rows } = await sql<Attempt>`select ${ATTEMPT} from webhook_attempts a
    where a.delivery_id = ${deliveryId} ${beyond(sql`(a.at, a.id)`, keyset)}
    ${ordered(sql`a.at`, sql`a.id`, keyset)}`.execute(db);
  return rows;
}

/** Requests a resend. One that is requested while another is being sent follows it. */
export async function requestResend(tx: Db, id: string): Promise<void> {
  await sql`update webhook_deliveries set resend_requested = true, resend_lease_until = null
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

/** Deletes finished deliveries older than `before`, deliveries whose event is gone, and deleted endpoints. */
export async function deleteOldDeliveries(db: Db, before: string): Promise<void> {
  await deleteInBatches(
    db,
    'webhook_deliveries',
    sql`state <> 'pending' and inserted_at < ${before}::timestamptz`,
  );
  // A delivery that can no longer be made would hold back later ones of its subject.
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
