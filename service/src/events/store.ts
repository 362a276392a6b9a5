import { type Insertable, sql } from 'kysely';
import type { Db } from '../db/pool.ts';
import type { Events } from '../db/settlement-tables.ts';

/** The channel that notifies every node of new events. */
export const EVENTS_CHANNEL = 'events';

const PLACE_BATCH_SIZE = 1_000;

/** Inserts the rows in the given order and notifies listeners when the transaction commits. */
export async function insertEvents(tx: Db, rows: readonly Insertable<Events>[]): Promise<void> {
  await tx.insertInto('events').values(rows).execute();
  await sql`select pg_notify(${EVENTS_CHANNEL}, '')`.execute(tx);
}

/** Assigns positions to all committed events that have none. */
export async function assignPositions(db: Db): Promise<void> {
  for (;;) {
    const { rows } = await sql<{ placed: number }>`
      select case when exists (select from events where position is null)
        then place_events(${PLACE_BATCH_SIZE}) else 0 end as placed`.execute(db);
    if ((rows[0]?.placed ?? 0) < PLACE_BATCH_SIZE) return;
  }
}
