import { sql } from 'kysely';
import type { Db } from '../../platform/db/pool.ts';
import type { Entry } from './verification-store.ts';

/**
 * Locks one allow-list entry until the transaction ends, so that only one transaction at a time permits or revokes it.
 */
export async function lockEntry(tx: Db, { chain, contract, wallet }: Entry): Promise<void> {
  const key = `allow-list ${chain} ${contract} ${wallet}`;
  await sql`select pg_advisory_xact_lock(hashtextextended(${key}, 0))`.execute(tx);
}

/** Queues a revocation. Does nothing if another revocation of the entry is open. */
export async function insertRevocation(
  tx: Db,
  { id, chain, contract, wallet }: Entry & { id: string },
  time: string,
): Promise<void> {
  await sql`insert into allow_revocations (id, chain, contract, wallet, inserted_at)
    values (${id}, ${chain}, ${contract}, ${wallet}, ${time})
    on conflict (chain, contract, wallet) where state <> 'done' do nothing`.execute(tx);
}

export async function hasOpenRevocation(db: Db, { chain, contract, wallet }: Entry): Promise<boolean> {
  const { rows } = await sql`
    select from allow_revocations where chain = ${chain} and contract = ${contract} and wallet = ${wallet}
      and state <> 'done'`.execute(db);
  return rows.length > 0;
}

export type Revocation = Entry & { id: string };

/** Returns the chain's oldest revocation that is due to be sent. */
export async function findWaiting(db: Db, chain: string): Promise<Revocation | undefined> {
  const { rows } = await sql<Revocation>`
    select id, chain, contract, wallet from allow_revocations
    where chain = ${chain} and state = 'waiting' and send_at <= now() order by inserted_at, id limit 1`.execute(
    db,
  );
  return rows[0];
}

export async function postpone(db: Db, id: string, seconds: number): Promise<void> {
  await sql`update allow_revocations set send_at = now() + make_interval(secs => ${seconds})
    where id = ${id}`.execute(db);
}

/** Assigns a waiting revocation to a transaction. Returns false if the revocation is no longer waiting. */
export async function assign(tx: Db, id: string, transactionId: string): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update allow_revocations set state = 'sent', transaction_id = ${transactionId}
    where id = ${id} and state = 'waiting'`.execute(tx);
  return numAffectedRows === 1n;
}

/**
 * Records that the chain has confirmed the transaction. Returns the revoked entry, or undefined if no sent revocation
 * belongs to the transaction.
 */
export async function markDone(tx: Db, transactionId: string): Promise<Entry | undefined> {
  const { rows } = await sql<Entry>`
    update allow_revocations set state = 'done' where transaction_id = ${transactionId} and state = 'sent'
    returning chain, contract, wallet`.execute(tx);
  return rows[0];
}

/** Puts a revocation back into the queue after its transaction had no effect. */
export async function release(tx: Db, transactionId: string, seconds: number): Promise<void> {
  await sql`update allow_revocations set state = 'waiting', transaction_id = null,
      send_at = now() + make_interval(secs => ${seconds})
    where transaction_id = ${transactionId} and state = 'sent'`.execute(tx);
}

/** Counts the revocations that the chain has not confirmed. */
export async function countOpen(db: Db): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from allow_revocations where state <> 'done'`.execute(db);
  return rows[0]?.count ?? 0;
}

/** Reopens a revocation that a reorganization undid, unless another revocation of the same entry is open. */
export async function reopen(tx: Db, transactionId: string): Promise<void> {
  await sql`update allow_revocations r set state = 'sent' where r.transaction_id = ${transactionId} and r.state = 'done'
    and not exists (select from allow_revocations o where o.chain = r.chain and o.contract = r.contract
      and o.wallet = r.wallet and o.state <> 'done')`.execute(tx);
}
