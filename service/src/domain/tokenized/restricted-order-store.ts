import { sql } from 'kysely';
import type { Db } from '../../platform/db/pool.ts';

export type RestrictedOrder = {
  id: string;
  user_id: string;
  partner_id: string;
  offer_id: string;
  chain: string;
  wallet: string;
  is_held: boolean;
  restricted_reason: 'hold' | 'sanctions' | null;
};

/** Lists the orders whose calldata can still be executed, oldest first. `is_held` tells whether the user is on hold. */
export async function listLive(db: Db): Promise<RestrictedOrder[]> {
  const { rows } = await sql<RestrictedOrder>`
    select o.id, o.user_id, o.partner_id, o.offer_id, o.chain, o.wallet, u.held_at is not null as is_held,
      o.restricted_reason
    from tokenized_orders o join users u on u.id = o.user_id where o.state = 'live' order by o.id`.execute(
    db,
  );
  return rows;
}

/** Records why the order is restricted. Returns false if a reason is already recorded. */
export async function markRestricted(tx: Db, id: string, reason: 'hold' | 'sanctions'): Promise<boolean> {
  const { numAffectedRows } = await sql`update tokenized_orders set restricted_reason = ${reason}
    where id = ${id} and restricted_reason is null`.execute(tx);
  return numAffectedRows === 1n;
}
