import { sql } from 'kysely';
import type { Db } from '../../platform/db/pool.ts';

export type UserData = { wallets: number; participations: number; orders: number; documents: number };

/** Counts the user's wallets, participations, orders of tokenized assets and unsigned documents. */
export async function countUserData(db: Db, userId: string): Promise<UserData> {
  const { rows } = await sql<UserData>`
    select (select count(*)::int from (select address from wallet_proofs where user_id = ${userId}
        union select address from option_addresses where user_id = ${userId}) as bound) as wallets,
      (select count(*)::int from participations where user_id = ${userId}) as participations,
      (select count(*)::int from tokenized_orders where user_id = ${userId}) as orders,
      (select count(*)::int from document_submissions where user_id = ${userId}
        and status in ('INITIALIZED', 'SENT', 'VIEWED')) as documents`.execute(db);
  return rows[0] ?? { wallets: 0, participations: 0, orders: 0, documents: 0 };
}
