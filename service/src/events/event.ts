import { type Kysely, sql } from 'kysely';
import type { Context } from '../context.ts';
import type { Db } from '../db/pool.ts';
import type { Database } from '../db/tables.ts';
import { newId } from '../http/ids.ts';
import { toTimestamp } from '../http/wire.ts';

/** The channel on which every node hears that something was appended. */
export const EVENTS_CHANNEL = 'events';

export type NewEvent = {
  partnerId: string;
  /** Null where the event concerns no user. */
  userId: string | null;
  /** Such as `participation.completed`. */
  type: string;
  /** Ids, statuses and amounts; never personal data. */
  data: Record<string, unknown>;
};

type Source = Pick<Context, 'clock' | 'random'>;

/** Appends to the log in the transaction of the change; who listens is told when it commits. */
export async function appendEvent(source: Source, tx: Db, event: NewEvent): Promise<void> {
  await appendEvents(source, tx, [event]);
}

/** In the order given. The changed rows must be locked or written before, or the order of two changes is left to chance. */
export async function appendEvents(source: Source, tx: Db, events: readonly NewEvent[]): Promise<void> {
  if (events.length === 0) return;
  await tx
    .insertInto('events')
    .values(
      events.map(({ partnerId, userId, type, data }) => ({
        id: newId(source.clock, source.random),
        partner_id: partnerId,
        user_id: userId,
        type,
        data: JSON.stringify(data),
        inserted_at: toTimestamp(source.clock.micros()),
      })),
    )
    .execute();
  await sql`select pg_notify(${EVENTS_CHANNEL}, '')`.execute(tx);
}

const BATCH = 1_000;

/**
 * Gives a position to every event committed so far. Whoever reads the log by position calls this first; then each
 * event appears once and above all that were readable before.
 */
export async function placeEvents(db: Kysely<Database>): Promise<void> {
  for (;;) {
    const { rows } = await sql<{ placed: number }>`
      select case when exists (select from events where position is null) then place_events(${BATCH}) else 0 end as placed`.execute(
      db,
    );
    if ((rows[0]?.placed ?? 0) < BATCH) return;
  }
}
