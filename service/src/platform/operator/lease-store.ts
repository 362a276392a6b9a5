import { sql } from 'kysely';
import { nodeIsAlive } from '../db/node.ts';
import type { Db } from '../db/pool.ts';
import type { KeyId } from './account.ts';

type Holder = KeyId & { node: number; epoch: bigint };

/** Takes or renews the lease for `node`. Returns null if another live node holds an unexpired lease. */
export async function upsertLease(
  db: Db,
  { chain, address, node }: KeyId & { node: number },
  ttlSeconds: number,
): Promise<{ epoch: bigint; nextNonce: bigint | null; seenNonce: bigint | null } | null> {
  const { rows } = await sql<{ epoch: bigint; next_nonce: bigint | null; seen_nonce: bigint | null }>`
    insert into operator_keys as k (chain, address, epoch, node, lease_until)
    values (${chain}, ${address}, 1, ${node}, now() + make_interval(secs => ${ttlSeconds}))
    on conflict (chain, address) do update set node = excluded.node, lease_until = excluded.lease_until,
      epoch = case when k.node = excluded.node then k.epoch else k.epoch + 1 end
    where k.node = excluded.node or k.lease_until < now() or not ${nodeIsAlive('k.node')}
    returning epoch, next_nonce, seen_nonce`.execute(db);
  const [row] = rows;
  if (row === undefined) return null;
  return { epoch: row.epoch, nextNonce: row.next_nonce, seenNonce: row.seen_nonce };
}

/** Writes at most once every two seconds, because a busy chain has many rounds per second. */
export async function recordGoodRound(db: Db, { chain, address, node, epoch }: Holder): Promise<void> {
  await sql`
    update operator_keys set good_round_at = now()
    where chain = ${chain} and address = ${address} and node = ${node} and epoch = ${epoch}
      and (good_round_at is null or good_round_at < now() - interval '2 seconds')`.execute(db);
}

export async function isLeaseHeld(tx: Db, { chain, address, node, epoch }: Holder): Promise<boolean> {
  const row = await tx
    .selectFrom('operator_keys')
    .select('epoch')
    .where('chain', '=', chain)
    .where('address', '=', address)
    .where('node', '=', node)
    .where('epoch', '=', epoch)
    .forUpdate()
    .executeTakeFirst();
  return row !== undefined;
}

/** Releases the lease, so that another node can take it immediately. */
export async function releaseLease(db: Db, { chain, address, node, epoch }: Holder): Promise<void> {
  await db
    .updateTable('operator_keys')
    .set({ lease_until: sql<string>`now() - interval '1 second'` })
    .where('chain', '=', chain)
    .where('address', '=', address)
    .where('node', '=', node)
    .where('epoch', '=', epoch)
    .execute();
}

/** Returns false if the stored next nonce is not `nonce`. If none is stored, accepts any. */
export async function advanceNextNonce(tx: Db, { chain, address }: KeyId, nonce: bigint): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('operator_keys')
    .set({ next_nonce: nonce + 1n })
    .where('chain', '=', chain)
    .where('address', '=', address)
    .where((where) => where.or([where('next_nonce', 'is', null), where('next_nonce', '=', nonce)]))
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

export async function setFirstNonce(tx: Db, { chain, address }: KeyId, nonce: bigint): Promise<void> {
  await tx
    .updateTable('operator_keys')
    .set({ next_nonce: nonce })
    .where('chain', '=', chain)
    .where('address', '=', address)
    .where('next_nonce', 'is', null)
    .execute();
}

export async function raiseSeenNonce(tx: Db, { chain, address }: KeyId, count: bigint): Promise<void> {
  await sql`
    update operator_keys set seen_nonce = greatest(seen_nonce, ${count})
    where chain = ${chain} and address = ${address}`.execute(tx);
}

/**
 * Raises the next nonce to at least `nonce` and forgets the counts that RPC nodes have reported. Null for an unknown
 * key.
 */
export async function revokeLease(tx: Db, { chain, address }: KeyId, nonce: bigint): Promise<bigint | null> {
  const { rows } = await sql<{ next_nonce: bigint }>`
    update operator_keys set epoch = epoch + 1, lease_until = now(),
      next_nonce = greatest(next_nonce, ${nonce}), seen_nonce = null
    where chain = ${chain} and address = ${address} returning next_nonce`.execute(tx);
  return rows[0]?.next_nonce ?? null;
}

/**
 * Raises the next nonce to at least `nonce`. Forgets the highest count that RPC nodes have reported, unless it is
 * above that: more transactions are then missing from this database.
 */
export async function advanceKey(tx: Db, { chain, address }: KeyId, nonce: bigint): Promise<void> {
  await sql`
    update operator_keys set epoch = epoch + 1, lease_until = now(), next_nonce = greatest(next_nonce, ${nonce}),
      seen_nonce = case when seen_nonce > greatest(next_nonce, ${nonce}) then seen_nonce end
    where chain = ${chain} and address = ${address}`.execute(tx);
}

export async function listKeys(db: Db, chain: string) {
  const rows = await db
    .selectFrom('operator_keys')
    .selectAll()
    .select(sql<boolean>`lease_until > now()`.as('is_held'))
    .where('chain', '=', chain)
    .orderBy('address')
    .execute();
  return rows.map(({ address, next_nonce, seen_nonce, node, epoch, lease_until, is_held }) => ({
    ...{ address, nextNonce: next_nonce, seenNonce: seen_nonce, node, epoch, leaseUntil: lease_until },
    isHeld: is_held,
  }));
}

export async function findNextNonce(db: Db, { chain, address }: KeyId): Promise<bigint | null> {
  const row = await db
    .selectFrom('operator_keys')
    .select('next_nonce')
    .where('chain', '=', chain)
    .where('address', '=', address)
    .executeTakeFirst();
  return row?.next_nonce ?? null;
}

export async function listOperatorAddresses(db: Db): Promise<string[]> {
  const { rows } = await sql<{ address: string }>`
    select address from operator_keys group by address order by max(lease_until) desc, address`.execute(db);
  return rows.map(({ address }) => address);
}
