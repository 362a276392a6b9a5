import { sql } from 'kysely';
import type { Db } from '../../platform/db/pool.ts';

/**
 * Sums each offer's completed participations across all partners, in dollars. One token of a funding asset counts as
 * one dollar.
 */
export async function sumCompleted(db: Db, offerIds: readonly string[]): Promise<Map<string, string>> {
  if (offerIds.length === 0) return new Map();
  const { rows } = await sql<{ offer_id: string; raised: string }>`
    select p.offer_id, trim_scale(sum(p.amount / power(10::numeric, p.asset_digits)))::text as raised
    from partners join participations p on p.partner_id = partners.id
    where p.offer_id = any(${offerIds}::uuid[]) and p.status = 'completed' group by p.offer_id`.execute(db);
  return new Map(rows.map(({ offer_id, raised }) => [offer_id, raised]));
}
