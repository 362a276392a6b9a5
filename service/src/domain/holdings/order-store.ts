import { sql } from 'kysely';
import type { Hex } from 'viem';
import { deleteInBatches } from '../../platform/db/delete-in-batches.ts';
import type { Db } from '../../platform/db/pool.ts';
import type { Database } from '../../platform/db/tables.ts';
import type { Attestation } from '../../platform/providers/venue.ts';
import { erasedAddressOf } from '../users/user.ts';

type OrderState = Database['tokenized_orders']['state'];

export type StoredOrder = {
  id: string;
  partner_id: string;
  user_id: string;
  offer_id: string;
  symbol: string;
  chain: string;
  wallet: Hex;
  swap: Hex;
  asset: Hex;
  token: Hex;
  amount: bigint;
  state: OrderState;
  expires_at: string;
  attestation: Attestation | null;
  from_block: bigint | null;
};

type NewOrder = Omit<StoredOrder, 'state' | 'attestation'> & { claim: Buffer | null };

type Row = Omit<StoredOrder, 'amount' | 'attestation' | 'from_block'> & {
  amount: string;
  attestation: Record<keyof Attestation, string> | null;
  from_block: string | bigint | null;
};

const COLUMNS = sql`id, partner_id, user_id, offer_id, symbol, chain, wallet, swap, asset, token, amount::text, state,
  expires_at, attestation, from_block`;

/** Whether an order has no outcome yet: its calldata is live or may still be issued. */
const IS_OPEN = sql.raw("state in ('asking', 'unknown', 'attested', 'live')");

/**
 * Inserts nothing and returns undefined if the user is on hold, has been erased or has not proven the wallet, or if
 * the wallet already has an open order for the asset. A wallet can have several proofs, one per chain.
 */
export async function insertOrder(tx: Db, order: NewOrder, now: string): Promise<string | undefined> {
  const { chain, wallet, asset } = order;
  const { rows } = await sql<{ id: string }>`
    insert into tokenized_orders (id, partner_id, user_id, offer_id, symbol, chain, wallet, swap, asset, token, amount,
      claim, state, holding, expires_at, from_block, inserted_at, updated_at)
    select ${order.id}, proof.partner_id, proof.user_id, ${order.offer_id}, ${order.symbol}, ${chain},
      proof.address, ${order.swap}, ${asset}, ${order.token}, ${order.amount.toString()}, ${order.claim}, 'asking', true,
      ${order.expires_at}, ${order.from_block}, ${now}, ${now}
    from wallet_proofs proof join users on users.id = proof.user_id
    where proof.partner_id = ${order.partner_id} and proof.user_id = ${order.user_id} and proof.address = ${wallet}
      and users.held_at is null and users.email <> ${erasedAddressOf(order.user_id)}
    limit 1
    on conflict (chain, wallet, asset) where holding do nothing returning id`.execute(tx);
  return rows[0]?.id;
}

/** Releases an expired order, so that the wallet can order the asset again. */
export async function releaseExpired(
  db: Db,
  { chain, wallet, asset }: Pick<StoredOrder, 'chain' | 'wallet' | 'asset'>,
  now: string,
): Promise<void> {
  await sql`update tokenized_orders set holding = false, updated_at = ${now}
    where chain = ${chain} and wallet = ${wallet} and asset = ${asset} and holding and expires_at < ${now}`.execute(
    db,
  );
}

export async function findHolding(
  db: Db,
  { chain, wallet, asset }: Pick<StoredOrder, 'chain' | 'wallet' | 'asset'>,
): Promise<StoredOrder | undefined> {
  const { rows } = await sql<Row>`select ${COLUMNS} from tokenized_orders
    where chain = ${chain} and wallet = ${wallet} and asset = ${asset} and holding`.execute(db);
  return rows[0] && toOrder(rows[0]);
}

type Earlier = {
  /**
   * From an earlier request with the same idempotency key, unless the venue refused it: a refused order has used up
   * no attestation, so the new request may place another one.
   */
  claimed: StoredOrder | undefined;
  holding: StoredOrder | undefined;
};

/** Finds earlier orders that affect a new one. Ignores idempotency keys that were used before `since`. */
export async function findEarlierOrders(
  db: Db,
  { chain, wallet, asset }: Pick<StoredOrder, 'chain' | 'wallet' | 'asset'>,
  claim: Buffer | null,
  since: string,
): Promise<Earlier> {
  const { rows } = await sql<Row & { holding: boolean; claimed: boolean | null }>`
    select ${COLUMNS}, holding, claim = ${claim}::bytea and state <> 'refused' and inserted_at > ${since} as claimed
    from tokenized_orders
    where claim = ${claim}::bytea or (chain = ${chain} and wallet = ${wallet} and asset = ${asset} and holding)`.execute(
    db,
  );
  const claimed = rows.find((row) => row.claimed);
  const holding = rows.find(
    (row) => row.holding && row.chain === chain && row.wallet === wallet && row.asset === asset,
  );
  return { claimed: claimed && toOrder(claimed), holding: holding && toOrder(holding) };
}

/** Least recently checked first. Concurrent calls get different orders. */
export async function takeOpen(db: Db, limit: number, seconds: number): Promise<StoredOrder[]> {
  const { rows } = await sql<Row>`
    update tokenized_orders set check_at = now() + make_interval(secs => ${seconds})
    where id in (
      select id from tokenized_orders where ${IS_OPEN} and check_at <= now()
      order by check_at limit ${limit} for update skip locked)
    returning ${COLUMNS}`.execute(db);
  return rows.map(toOrder);
}

export async function releaseTaken(db: Db, ids: readonly string[]): Promise<void> {
  await sql`update tokenized_orders set check_at = now() where id = any(${ids}::uuid[])`.execute(db);
}

/** Records that these orders were not executed before `block`. The next search for them starts at `block`. */
export async function advanceSearch(db: Db, ids: readonly string[], block: bigint): Promise<void> {
  await sql`
    update tokenized_orders set from_block = greatest(from_block, ${block}) where id = any(${ids}::uuid[])`.execute(
    db,
  );
}

/** Returns whether any of the users has an order from this wallet, with this partner, that may still be executed. */
export async function hasLiveOrder(
  tx: Db,
  partnerId: string,
  wallet: string,
  userIds: readonly string[],
  now: string,
): Promise<boolean> {
  const { rows } = await sql`
    select from tokenized_orders
    where partner_id = ${partnerId} and wallet = ${wallet} and user_id = any(${userIds}::uuid[])
      and state in ('asking', 'unknown', 'attested', 'live') and expires_at > ${now} limit 1`.execute(tx);
  return rows.length > 0;
}

export async function hasAnyLiveOrder(tx: Db, userId: string, now: string): Promise<boolean> {
  const { rows } = await sql`
    select from tokenized_orders
    where user_id = ${userId} and state in ('asking', 'unknown', 'attested', 'live') and expires_at > ${now}
    limit 1`.execute(tx);
  return rows.length > 0;
}

export async function moveOrder(
  db: Db,
  id: string,
  from: OrderState,
  to: { state: OrderState; holding: boolean },
  now: string,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update tokenized_orders set state = ${to.state}, holding = ${to.holding} and holding, updated_at = ${now}
    where id = ${id} and state = ${from}`.execute(db);
  return numAffectedRows === 1n;
}

export async function saveAttestation(
  db: Db,
  id: string,
  attestation: Attestation,
  expiresAt: string,
  now: string,
): Promise<void> {
  const json = JSON.stringify(attestation, (_key, value) =>
    typeof value === 'bigint' ? value.toString() : value,
  );
  await sql`update tokenized_orders set state = 'attested', attestation = ${json}::jsonb,
      attestation_id = ${attestation.attestationId.toString()}, expires_at = ${expiresAt}, updated_at = ${now}
    where id = ${id} and state = 'asking'`.execute(db);
}

/** Moves an attested order to `live` and stores its fee. Returns false if the order is no longer attested. */
export async function issueOrder(tx: Db, id: string, fee: bigint, now: string): Promise<boolean> {
  const { rows } = await sql`
    update tokenized_orders set state = 'live', fee = ${fee.toString()}, updated_at = ${now}
    where id = ${id} and state = 'attested' returning id`.execute(tx);
  return rows.length === 1;
}

export async function saveTransactionHash(db: Db, id: string, hash: Hex): Promise<void> {
  await sql`update tokenized_orders set transaction_hash = ${Buffer.from(hash.slice(2), 'hex')} where id = ${id}`.execute(
    db,
  );
}

export async function releaseOrder(db: Db, id: string, now: string): Promise<void> {
  await sql`update tokenized_orders set holding = false, updated_at = ${now} where id = ${id} and holding`.execute(
    db,
  );
}

export async function deleteUntraded(db: Db, before: string): Promise<void> {
  const ended = sql`state in ('refused', 'failed', 'abandoned', 'expired') and not holding and updated_at < ${before}`;
  await deleteInBatches(db, 'tokenized_orders', ended);
}

export async function clearClaims(db: Db, before: string): Promise<void> {
  await sql`update tokenized_orders set claim = null
    where claim is not null and state = 'executed' and inserted_at < ${before}`.execute(db);
}

function toOrder(row: Row): StoredOrder {
  const { amount, attestation, from_block } = row;
  return {
    ...row,
    amount: BigInt(amount),
    attestation: attestation && toAttestation(attestation),
    from_block: from_block === null ? null : BigInt(from_block),
  };
}

function toAttestation(stored: Record<keyof Attestation, string | number>): Attestation {
  const hex = (name: 'userId' | 'asset' | 'additionalData' | 'signature') => String(stored[name]) as Hex;
  return {
    chainId: BigInt(stored.chainId),
    attestationId: BigInt(stored.attestationId),
    userId: hex('userId'),
    asset: hex('asset'),
    price: BigInt(stored.price),
    quantity: BigInt(stored.quantity),
    expiration: BigInt(stored.expiration),
    side: Number(stored.side) === 0 ? 0 : 1,
    additionalData: hex('additionalData'),
    signature: hex('signature'),
  };
}

type OpenOrder = { subject_id: string; address: string; user_id: string; partner_id: string };

export async function listOpenByWallets(db: Db, wallets: readonly string[]): Promise<OpenOrder[]> {
  const { rows } = await sql<OpenOrder>`
    select id as subject_id, wallet as address, user_id, partner_id from tokenized_orders
    where wallet = any(${wallets}::text[]) and ${IS_OPEN}`.execute(db);
  return rows;
}
