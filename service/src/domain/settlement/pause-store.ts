import { sql } from 'kysely';
import type { Db } from '../../platform/db/pool.ts';
import type { Database } from '../../platform/db/tables.ts';

export type Pause = {
  subject: string;
  reason: Database['settlement_pauses']['reason'];
  message: string;
  since: string;
};

/**
 * Pauses a subject: a chain, an offer or everything. If the subject is already paused, keeps the existing reason and
 * returns false.
 */
export async function insertPause(
  db: Db,
  { subject, reason, message }: Omit<Pause, 'since'>,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('settlement_pauses')
    .values({ subject, reason, message })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

/** Ends a pause. Returns false if the subject is not paused. */
export async function deletePause(db: Db, subject: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('settlement_pauses')
    .where('subject', '=', subject)
    .executeTakeFirst();
  return numDeletedRows === 1n;
}

/** Returns the id of the offer with this slug, or null if there is none. */
export async function findPausableOffer(db: Db, slug: string): Promise<string | null> {
  const found = await db.selectFrom('offers').select('id').where('slug', '=', slug).executeTakeFirst();
  return found?.id ?? null;
}

/** Lists the pauses. Offers are named by their slugs. */
export async function listPauses(db: Db): Promise<Pause[]> {
  const { rows } = await sql<Pause>`
    select coalesce(o.slug, s.subject) as subject, s.reason, s.message, s.inserted_at as since
    from settlement_pauses s left join offers o on o.id::text = s.subject order by s.inserted_at, s.subject`.execute(
    db,
  );
  return rows;
}
