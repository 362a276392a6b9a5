import { sql } from 'kysely';
import type { Keyset } from '../../kernel/paging.ts';
import type { Db } from '../../platform/db/pool.ts';

export type OrderRow = {
  id: string;
  symbol: string;
  side: number;
  chain: string;
  wallet: string;
  amount: string;
  fee: string;
  quantity: string;
  state: 'live' | 'executed' | 'expired';
  transaction_hash: Buffer | null;
  expires_at: string;
  inserted_at: string;
};

const SELECT_ORDERS = sql`
  select t.id, t.symbol, (t.attestation ->> 'side')::int as side, t.chain, t.wallet, t.amount::text, t.fee::text,
    t.attestation ->> 'quantity' as quantity, t.state, t.transaction_hash, t.expires_at, t.inserted_at
  from tokenized_orders t`;

export async function listIssuedOrders(
  db: Db,
  { partnerId, userId }: { partnerId: string; userId: string | null },
  { direction, position, limit }: Keyset,
): Promise<OrderRow[]> {
  const isOlder = direction === 'older';
  const order = sql.raw(isOlder ? 'desc' : 'asc');
  const ofUser = userId === null ? sql`` : sql`and t.user_id = ${userId}`;
  const beyond =
    position === null
      ? sql``
      : sql`and (t.inserted_at, t.id) ${sql.raw(isOlder ? '<' : '>')} (${position.inserted_at}::timestamptz, ${position.id}::uuid)`;
  const { rows } = await sql<OrderRow>`${SELECT_ORDERS}
    where t.partner_id = ${partnerId} ${ofUser} ${beyond} and t.state in ('live', 'executed', 'expired')
      and t.attestation is not null
    order by t.inserted_at ${order}, t.id ${order} limit ${limit}`.execute(db);
  return rows;
}

export async function listOrdersOf(db: Db, userId: string): Promise<OrderRow[]> {
  const { rows } = await sql<OrderRow>`${SELECT_ORDERS}
    where t.user_id = ${userId} and t.state in ('live', 'executed', 'expired') and t.attestation is not null
    order by t.inserted_at, t.id`.execute(db);
  return rows;
}

export async function hasTrades(db: Db, userId: string): Promise<boolean> {
  const { rows } = await sql`select from tokenized_orders
    where user_id = ${userId} and state in ('live', 'executed') limit 1`.execute(db);
  return rows.length > 0;
}

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

export async function markRestricted(tx: Db, id: string, reason: 'hold' | 'sanctions'): Promise<boolean> {
  const { numAffectedRows } = await sql`update tokenized_orders set restricted_reason = ${reason}
    where id = ${id} and restricted_reason is null`.execute(tx);
  return numAffectedRows === 1n;
}
