import { type Insertable, sql } from 'kysely';
import type { Db } from '../db/pool.ts';
import type { Events } from '../db/settlement-tables.ts';

/** The channel on which `place_events` notifies every node, once per batch. */
export const EVENTS_CHANNEL = 'events';

const PLACE_BATCH_SIZE = 1_000;

/** Inserts the rows in the given order. Does not notify: NOTIFY would serialise the commits of all writers. */
export async function insertEvents(tx: Db, rows: readonly Insertable<Events>[]): Promise<void> {
  await tx.insertInto('events').values(rows).execute();
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
