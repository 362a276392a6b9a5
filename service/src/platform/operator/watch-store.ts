import { base58 } from '@scure/base';
import { sql } from 'kysely';
import type { Db } from '../db/pool.ts';

const toBytes = (signature: string) => Buffer.from(base58.decode(signature));

export async function findLastSeen(db: Db, chain: string, address: string): Promise<string | null> {
  const { rows } = await sql<{ signature: Buffer }>`
    select signature from watched_addresses where chain = ${chain} and address = ${address}`.execute(db);
  return rows[0] === undefined ? null : base58.encode(rows[0].signature);
}

export async function setLastSeen(db: Db, chain: string, address: string, signature: string): Promise<void> {
  await sql`
    insert into watched_addresses (chain, address, signature) values (${chain}, ${address}, ${toBytes(signature)})
    on conflict (chain, address) do update set signature = excluded.signature`.execute(db);
}

export async function insertForeign(db: Db, chain: string, found: ForeignTransaction): Promise<void> {
  await sql`
    insert into foreign_transactions (chain, signature, address, participation_id)
    values (${chain}, ${toBytes(found.signature)}, ${found.address}, ${found.participationId})
    on conflict do nothing`.execute(db);
}

/** A transaction that was signed with one of a fund's keys, but not sent by this service. */
export type ForeignTransaction = { signature: string; address: string; participationId: string | null };

type StoredForeign = { signature: Buffer; address: string; participation_id: string | null };

export async function listForeignTransactions(db: Db, chain: string): Promise<ForeignTransaction[]> {
  const { rows } = await sql<StoredForeign>`
    select signature, address, participation_id from foreign_transactions
    where chain = ${chain} and adopted_at is null order by seen_at`.execute(db);
  return rows.map(toForeign);
}

/**
 * Settlement then continues with the participations that they refer to, and pays each one unless a receipt shows that
 * it was paid.
 */
export async function adoptForeignTransactions(db: Db, chain: string): Promise<ForeignTransaction[]> {
  const { rows } = await sql<StoredForeign>`
    update foreign_transactions set adopted_at = now() where chain = ${chain} and adopted_at is null
    returning signature, address, participation_id`.execute(db);
  return rows.map(toForeign);
}

function toForeign({ signature, address, participation_id }: StoredForeign): ForeignTransaction {
  return { signature: base58.encode(signature), address, participationId: participation_id };
}
