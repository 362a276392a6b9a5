import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import type { Keyset } from '../../kernel/paging.ts';
import { EMPTY_QUEUE, type QueueState } from '../../kernel/queue-state.ts';
import type { Db } from '../../platform/db/pool.ts';
import type { Database } from '../../platform/db/tables.ts';

type DisabledReason = NonNullable<Database['webhook_endpoints']['disabled_reason']>;
export type EndpointRow = Selectable<Database['webhook_endpoints']> & { behind: bigint };

const COLUMNS = sql`w.id, w.partner_id, w.url, w.types, w.description, w.state, w.disabled_reason, w.cursor,
  w.failures, w.failing_since, w.problem_reported, w.sealed_secret, w.previous_sealed_secret, w.last_delivered_at,
  w.deleted_at, w.inserted_at,
  case when w.previous_secret_until > now() then w.previous_secret_until end as previous_secret_until,
  greatest(0, coalesce((select s.last from partner_sequences s where s.partner_id = w.partner_id), 0) - w.cursor)
    + (select count(*) from webhook_deliveries d where d.endpoint_id = w.id and d.state = 'pending') as behind`;

/** The endpoint receives events from now on. Returns false if the partner already has `max` endpoints. */
export async function insertEndpoint(
  tx: Db,
  row: Omit<Insertable<Database['webhook_endpoints']>, 'cursor'>,
  max: number,
): Promise<boolean> {
  // Otherwise, concurrent inserts would not see each other's endpoints and could exceed `max`.
  await sql`select from partners where id = ${row.partner_id} for no key update`.execute(tx);
  const { numAffectedRows } = await sql`
    insert into webhook_endpoints (id, partner_id, url, types, description, cursor, sealed_secret, inserted_at)
    select ${row.id}::uuid, ${row.partner_id}::uuid, ${row.url}, ${row.types}::text[], ${row.description},
      coalesce((select last from partner_sequences where partner_id = ${row.partner_id}), 0), ${row.sealed_secret}::bytea,
      ${row.inserted_at}::timestamptz
    where (select count(*) from webhook_endpoints where partner_id = ${row.partner_id} and deleted_at is null) < ${max}`.execute(
    tx,
  );
  return numAffectedRows === 1n;
}

export async function findEndpoint(db: Db, partnerId: string, id: string): Promise<EndpointRow | undefined> {
  const { rows } = await sql<EndpointRow>`select ${COLUMNS} from webhook_endpoints w
    where w.id = ${id} and w.partner_id = ${partnerId} and w.deleted_at is null`.execute(db);
  return rows[0];
}

export async function lockEndpoint(tx: Db, partnerId: string, id: string): Promise<boolean> {
  const { rows } = await sql`select from webhook_endpoints
    where id = ${id} and partner_id = ${partnerId} and deleted_at is null for update`.execute(tx);
  return rows.length === 1;
}

export async function listEndpoints(
  db: Db,
  partnerId: string,
  { direction, position, limit }: Keyset,
): Promise<EndpointRow[]> {
  const isOlder = direction === 'older';
  const beyond =
    position === null
      ? sql``
      : sql`and (w.inserted_at, w.id) ${sql.raw(isOlder ? '<' : '>')} (${position.inserted_at}::timestamptz, ${position.id}::uuid)`;
  const order = sql.raw(isOlder ? 'desc' : 'asc');
  const { rows } = await sql<EndpointRow>`select ${COLUMNS} from webhook_endpoints w
    where w.partner_id = ${partnerId} and w.deleted_at is null ${beyond}
    order by w.inserted_at ${order}, w.id ${order} limit ${limit}`.execute(db);
  return rows;
}

export function listEnabled(db: Db, limit: number): Promise<{ id: string; url: string }[]> {
  return db
    .selectFrom('webhook_endpoints')
    .select(['id', 'url'])
    .where('state', '=', 'enabled')
    .where('deleted_at', 'is', null)
    .orderBy('id')
    .limit(limit)
    .execute();
}

export async function updateEndpoint(
  tx: Db,
  id: string,
  change: Updateable<Database['webhook_endpoints']>,
): Promise<void> {
  if (Object.keys(change).length === 0) return;
  await tx.updateTable('webhook_endpoints').set(change).where('id', '=', id).execute();
}

export async function replaceSecret(tx: Db, id: string, sealed: Buffer, graceHours: number): Promise<void> {
  await sql`update webhook_endpoints set sealed_secret = ${sealed},
      previous_sealed_secret = case when ${graceHours}::int > 0 then sealed_secret end,
      previous_secret_until = case when ${graceHours}::int > 0 then now() + make_interval(hours => ${graceHours}::int) end
    where id = ${id}`.execute(tx);
}

/** Locks the endpoints whose secret or previous secret was sealed with a key other than `keyId`. */
export async function lockOutdatedSecrets(
  tx: Db,
  keyId: Buffer,
): Promise<Pick<EndpointRow, 'id' | 'sealed_secret' | 'previous_sealed_secret'>[]> {
  const { rows } =
    await sql<EndpointRow>`select id, sealed_secret, previous_sealed_secret from webhook_endpoints
    where not starts_with(encode(sealed_secret, 'hex'), ${keyId.toString('hex')})
      or not starts_with(encode(previous_sealed_secret, 'hex'), ${keyId.toString('hex')})
    order by id for update`.execute(tx);
  return rows;
}

export async function deleteEndpoint(tx: Db, id: string): Promise<void> {
  await sql`update webhook_endpoints set deleted_at = now(), state = 'disabled',
    disabled_reason = coalesce(disabled_reason, 'requested') where id = ${id}`.execute(tx);
}

export async function disableEndpoint(tx: Db, id: string, reason: DisabledReason): Promise<void> {
  await sql`update webhook_endpoints set state = 'disabled', disabled_reason = ${reason}
    where id = ${id} and state <> 'disabled'`.execute(tx);
}

/**
 * Call this before changing other deliveries, to avoid deadlocks: a worker that finishes a head also updates the head
 * before the next delivery with the same subject.
 */
async function lockHeads(tx: Db, id: string): Promise<void> {
  await sql`select from webhook_deliveries where endpoint_id = ${id} and state = 'pending' and is_head
    order by id for update`.execute(tx);
}

/** Enables the endpoint. Pending deliveries restart their retry schedule, so that none is abandoned immediately. */
export async function enableEndpoint(tx: Db, id: string): Promise<void> {
  await sql`update webhook_endpoints set state = 'enabled', disabled_reason = null, failures = 0, failing_since = null
    where id = ${id}`.execute(tx);
  await lockHeads(tx, id);
  // A delivery in progress keeps its step, because its result is recorded only if the step is unchanged.
  await sql`update webhook_deliveries set step = case when lease_until > now() then step else 0 end, retry_until = null,
      next_attempt_at = now()
    where endpoint_id = ${id} and state = 'pending'`.execute(tx);
}

/** Skips all events that have not been delivered, and moves the cursor to the newest event. */
export async function skipToNow(tx: Db, id: string): Promise<void> {
  await lockHeads(tx, id);
  await sql`update webhook_deliveries set state = 'skipped', next_attempt_at = null, lease_until = null
    where endpoint_id = ${id} and state = 'pending'`.execute(tx);
  await sql`update webhook_endpoints w set cursor = coalesce(
    (select s.last from partner_sequences s where s.partner_id = w.partner_id), w.cursor) where w.id = ${id}`.execute(
    tx,
  );
}

const MAX_FAILING = sql.raw("interval '5 days'");
const MIN_FAILURES = 20;
/** Counting a long backlog would be slow, and the order of magnitude is enough. */
const MAX_COUNTED = 10_000;

/**
 * Returns whether the partner had been notified of a problem. Skips a disabled endpoint. Records at most one success
 * per second of a healthy one.
 */
export async function recordSuccess(tx: Db, id: string): Promise<boolean> {
  const { rows } = await sql<{ problem_reported: boolean }>`
    update webhook_endpoints w set failures = 0, failing_since = null, last_delivered_at = now(),
      problem_reported = false, state = case when w.state = 'failing' then 'enabled' else w.state end
    from (
      select id, problem_reported from webhook_endpoints
      where id = ${id} and state <> 'disabled' and (failures > 0 or problem_reported or state = 'failing'
        or last_delivered_at is null or last_delivered_at < now() - interval '1 second')
      for update
    ) as before where w.id = before.id returning before.problem_reported`.execute(tx);
  return rows[0]?.problem_reported ?? false;
}

export type EndpointHealth = {
  state: EndpointRow['state'];
  url: string;
  contact_email: string | null;
  is_hopeless: boolean;
};

/** Also locks the endpoint, so that concurrent failures change its health only once. */
export async function countFailure(tx: Db, id: string): Promise<EndpointHealth | undefined> {
  const { rows } = await sql<EndpointHealth>`
    update webhook_endpoints w set failures = failures + 1, failing_since = coalesce(failing_since, now())
    from partners p where w.id = ${id} and p.id = w.partner_id and w.deleted_at is null
    returning w.state, w.url, p.contact_email,
      w.failures >= ${MIN_FAILURES} and w.failing_since < now() - ${MAX_FAILING} as is_hopeless`.execute(tx);
  return rows[0];
}

export async function markProblem(
  tx: Db,
  id: string,
  problem: 'failing' | 'disabled',
  disabledReason: 'gone' | 'failing' | null,
): Promise<void> {
  await sql`update webhook_endpoints set state = ${problem}, disabled_reason = ${disabledReason},
    problem_reported = true where id = ${id}`.execute(tx);
}

/** Ignores disabled endpoints. Counts at most `MAX_COUNTED` deliveries per endpoint. */
export async function measureDeliveries(db: Db): Promise<QueueState> {
  const { rows } = await sql<QueueState>`
    select coalesce(sum(e.pending), 0)::int as length,
      coalesce(extract(epoch from now() - min(e.oldest)), 0)::float8 as "oldestSeconds"
    from (select
        (select count(*) from (select from webhook_deliveries d
          where d.endpoint_id = w.id and d.state = 'pending' limit ${MAX_COUNTED}) counted) as pending,
        (select d.inserted_at from webhook_deliveries d
          where d.endpoint_id = w.id and d.state = 'pending' order by d.sequence limit 1) as oldest
      from webhook_endpoints w where w.state <> 'disabled' and w.deleted_at is null) e`.execute(db);
  return rows[0] ?? EMPTY_QUEUE;
}
