import { type Insertable, type RawBuilder, type Selectable, sql } from 'kysely';
import { EMPTY_QUEUE, type QueueState } from '../../kernel/queue-state.ts';
import type { Db } from '../../platform/db/pool.ts';
import type { Database } from '../../platform/db/tables.ts';
import { DELIVERED } from './delivery-store.ts';

const MAX_FAILING = sql.raw("interval '5 days'");
const MIN_FAILURES = 20;
/**
 * The maximum number of deliveries that are counted per endpoint. Counting a long backlog would be slow, and the order
 * of magnitude is enough.
 */
const MAX_COUNTED = 10_000;

/**
 * Returns a statement that records a success for each endpoint that `ids` selects. Skips disabled endpoints. For a
 * healthy endpoint, records at most one success per second.
 */
function noteSuccesses(ids: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`update webhook_endpoints w set failures = 0, failing_since = null, last_delivered_at = now(),
      problem_reported = false, state = case when w.state = 'failing' then 'enabled' else w.state end
    from (
      select id, problem_reported from webhook_endpoints
      where id in (${ids}) and state <> 'disabled' and (failures > 0 or problem_reported or state = 'failing'
        or last_delivered_at is null or last_delivered_at < now() - interval '1 second')
      order by id for update
    ) as before where w.id = before.id`;
}

/** Records a success. Returns whether the partner had been notified of a problem. */
export async function recordSuccess(tx: Db, id: string): Promise<boolean> {
  const { rows } = await sql<{ problem_reported: boolean }>`
    ${noteSuccesses(sql`${id}`)} returning before.problem_reported`.execute(tx);
  return rows[0]?.problem_reported ?? false;
}

/**
 * Records the successful attempts to endpoints without a reported problem. Returns the ids of the recorded deliveries.
 * The caller must record the other deliveries one by one, because each of them may end a reported problem (see
 * `noteSuccess`).
 *
 * One statement records all attempts, because transactions are most of the cost of a delivery. The statement locks
 * endpoints before deliveries, as all other code does.
 */
export async function recordHealthySuccesses(
  db: Db,
  endpointIds: readonly string[],
  attempts: readonly Insertable<Database['webhook_attempts']>[],
): Promise<Set<string>> {
  const { rows } = await sql<{ delivery_id: string }>`
    with healthy as materialized (
      select id from webhook_endpoints where id = any(${endpointIds}::uuid[]) and not problem_reported
    ), noted as (
      ${noteSuccesses(sql`select id from healthy`)} returning w.id
    ), attempt as materialized (
      select a.* from json_populate_recordset(null::webhook_attempts, ${JSON.stringify(attempts)}::json) as a
        join webhook_deliveries d on d.id = a.delivery_id
      where d.endpoint_id in (select id from healthy) and (select count(*) from noted) >= 0
      order by d.id for update of d
    ), inserted as (
      insert into webhook_attempts (id, delivery_id, kind, at, duration_ms, status, error, address, response)
      select id, delivery_id, kind, at, duration_ms, status, error, address, response from attempt
    )
    update webhook_deliveries d set ${DELIVERED} from attempt where d.id = attempt.delivery_id
    returning d.id as delivery_id`.execute(db);
  return new Set(rows.map(({ delivery_id }) => delivery_id));
}

export type EndpointHealth = {
  state: Selectable<Database['webhook_endpoints']>['state'];
  url: string;
  contact_email: string | null;
  /** Whether the endpoint has failed too often and for too long without a success. */
  is_hopeless: boolean;
};

/**
 * Counts a failure. Also locks the endpoint until the transaction ends, so that concurrent failures change the
 * endpoint's health only once.
 */
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

/**
 * Returns the number of pending deliveries and the age of the oldest pending delivery. Ignores disabled endpoints.
 * Counts at most `MAX_COUNTED` deliveries per endpoint.
 */
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
