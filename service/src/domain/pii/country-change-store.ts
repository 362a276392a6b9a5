import { sql } from 'kysely';
import type { Db } from '../../platform/db/pool.ts';

export async function insertCountryChange(
  db: Db,
  change: { user_id: string; changed_at: string; is_flagged: boolean },
): Promise<void> {
  await db
    .insertInto('country_changes')
    .values({ ...change, approved_at: null })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

export type OpenChange = { user_id: string; email: string; changed_at: string; sealed_facts: Buffer };

/**
 * Lists the flagged country changes that no operator has approved, oldest first. A change is flagged if the country
 * policy or an offer rejects the old place but not the new one.
 */
export async function listOpenChanges(db: Db): Promise<OpenChange[]> {
  const { rows } = await sql<OpenChange>`
    select c.user_id, u.email, c.changed_at, p.sealed_facts from country_changes c join users u on u.id = c.user_id
      join pii p on p.user_id = c.user_id and p.restricted_until is null
    where c.approved_at is null and c.is_flagged order by c.changed_at, c.user_id limit 1000`.execute(db);
  return rows;
}

/** Approves the user's open changes. Returns how many there were. */
export async function approveChanges(db: Db, userId: string, now: string): Promise<number> {
  const { rows } = await sql`update country_changes set approved_at = ${now}
    where user_id = ${userId} and approved_at is null returning 1`.execute(db);
  return rows.length;
}

export async function replaceFacts(db: Db, userId: string, sealed_facts: Buffer): Promise<void> {
  await db.updateTable('pii').set({ sealed_facts }).where('user_id', '=', userId).execute();
}
