import { sql } from 'kysely';
import type { Keyset } from '../../kernel/paging.ts';
import type { Db } from '../../platform/db/pool.ts';
import type { Database } from '../../platform/db/tables.ts';

export type AcknowledgementRow = Database['acknowledgements'];

/** If the row exists, returns the existing one. */
export async function insertOnce(
  tx: Db,
  row: AcknowledgementRow,
): Promise<{ row: AcknowledgementRow; isNew: boolean }> {
  const inserted = await tx
    .insertInto('acknowledgements')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst();
  if (inserted !== undefined) return { row: inserted, isNew: true };
  const earlier = await tx
    .selectFrom('acknowledgements')
    .selectAll()
    .where('user_id', '=', row.user_id)
    .where('offer_id', '=', row.offer_id)
    .where('partner_id', '=', row.partner_id)
    .where('document', '=', row.document)
    .where('version', '=', row.version)
    .where('sha256', '=', row.sha256)
    .executeTakeFirstOrThrow();
  return { row: earlier, isNew: false };
}

export async function listAcknowledgements(
  db: Db,
  { userId, offerId }: { userId: string; offerId: string },
  { direction, position, limit }: Keyset,
): Promise<AcknowledgementRow[]> {
  const order = direction === 'older' ? 'desc' : 'asc';
  const beyond = sql<boolean>`(inserted_at, id) ${sql.raw(direction === 'older' ? '<' : '>')}
    (${position?.inserted_at}::timestamptz, ${position?.id}::uuid)`;
  return db
    .selectFrom('acknowledgements')
    .selectAll()
    .where('user_id', '=', userId)
    .where('offer_id', '=', offerId)
    .where(position === null ? sql<boolean>`true` : beyond)
    .orderBy('inserted_at', order)
    .orderBy('id', order)
    .limit(limit)
    .execute();
}

/** Returns the user's acknowledgements, oldest first, each with the name of the partner that recorded it. */
export async function listAcknowledgementsOf(db: Db, userId: string) {
  return db
    .selectFrom('acknowledgements as a')
    .innerJoin('partners as p', 'p.id', 'a.partner_id')
    .select(['a.offer_id', 'p.name as partner', 'a.document', 'a.name', 'a.url', 'a.version', 'a.sha256'])
    .select(['a.network', 'a.inserted_at'])
    .where('a.user_id', '=', userId)
    .orderBy('a.inserted_at')
    .orderBy('a.id')
    .execute();
}

export async function removeNetworks(tx: Db, userId: string): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('acknowledgements')
    .set({ network: null })
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}
