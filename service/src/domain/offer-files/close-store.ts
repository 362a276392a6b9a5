import { sql } from 'kysely';
import type { Db } from '../../platform/db/pool.ts';

export type OfferUse = { prepared: number; pending: number; submitted: number; orders: number };

/** Counts the participations in an offer that are in progress, and the orders that can still be executed. */
export async function countOfferUse(db: Db, offerId: string): Promise<OfferUse> {
  const { rows } = await sql<OfferUse>`
    select count(*) filter (where status = 'prepared')::int as prepared,
      count(*) filter (where status = 'pending')::int as pending,
      count(*) filter (where status = 'submitted')::int as submitted,
      (select count(*)::int from tokenized_orders where offer_id = ${offerId}
        and state in ('asking', 'unknown', 'attested', 'live') and expires_at > now()) as orders
    from participations where offer_id = ${offerId} and status in ('prepared', 'pending', 'submitted')`.execute(
    db,
  );
  return rows[0] ?? { prepared: 0, pending: 0, submitted: 0, orders: 0 };
}
