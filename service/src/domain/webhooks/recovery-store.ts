import { sql } from 'kysely';
import type { Db } from '../../platform/db/pool.ts';
import { SUBJECT, WANTED } from './delivery-store.ts';

export type MissedEvent = {
  event_id: string;
  subject: string | null;
  sequence: bigint;
  /**
   * The id of the event's delivery. Null if the event has no delivery, for example because the endpoint was disabled
   * when the event happened, and was later enabled with `from` set to `now`.
   */
  delivery_id: string | null;
};

type Range = {
  since: string;
  until: string;
  firstId: string;
  lastId: string;
  /** The delivery log is complete for events since this time. */
  loggedSince: string;
};

/**
 * Returns the events in the range that the endpoint has missed: their delivery failed, was skipped or never existed.
 * Leaves out:
 * - events that the endpoint does not subscribe to, or has not reached yet (`cursor`).
 * - events from before `loggedSince` that have no delivery, because a successful delivery may have been deleted.
 *
 * `firstId` and `lastId` also limit the range, because ids begin with the time and are indexed.
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

/** Restarts the retry schedule of these deliveries. */
export async function restartDeliveries(tx: Db, ids: readonly string[]): Promise<void> {
  await sql`update webhook_deliveries set state = 'pending', step = 0, retry_until = null, next_attempt_at = now()
    where id = any(${ids}::uuid[]) and state in ('failed', 'skipped')`.execute(tx);
}
