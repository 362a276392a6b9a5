import { sql } from 'kysely';
import type { Db } from '../db/pool.ts';
import type { WebhookEndpoints } from '../db/webhook-tables.ts';

const MAX_FAILING = sql.raw("interval '5 days'");
const MIN_FAILURES = 20;

/**
 * Records a success, unless the endpoint was disabled in the meantime. Returns whether the partner had been
 * notified of a problem before. While the endpoint is healthy, it is updated at most once a second.
 */
export async function recordSuccess(tx: Db, id: string): Promise<boolean> {
  const { rows } = await sql<{ problem_reported: boolean }>`
    with before as (
      select id, problem_reported from webhook_endpoints
      where id = ${id} and state <> 'disabled' and (failures > 0 or problem_reported or state = 'failing'
        or last_delivered_at is null or last_delivered_at < now() - interval '1 second')
      for update
    )
    update webhook_endpoints w set failures = 0, failing_since = null, last_delivered_at = now(),
      problem_reported = false, state = case when w.state = 'failing' then 'enabled' else w.state end
    from before where w.id = before.id returning before.problem_reported`.execute(tx);
  return rows[0]?.problem_reported ?? false;
}

export type EndpointHealth = {
  state: WebhookEndpoints['state']['__select__'];
  url: string;
  contact_email: string | null;
  /** Whether no attempt has succeeded for too long. */
  is_hopeless: boolean;
};

/**
 * Counts a failure and locks the endpoint, so that of several concurrent failures only one causes a
 * transition.
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
