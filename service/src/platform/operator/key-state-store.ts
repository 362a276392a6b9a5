import { sql } from 'kysely';
import { nodeIsAlive } from '../db/node.ts';
import type { Db } from '../db/pool.ts';
import type { KeyId } from './account.ts';

export type KeyState = KeyId & {
  nextNonce: bigint | null;
  /** The node that holds the lease; null if no live node does. */
  holder: number | null;
  leaseUntil: string;
  goodRoundAt: string | null;
  /** Seconds since the epoch. */
  goodRoundSeconds: number | null;
  /** What the key has spent on transactions in the last 24 hours. Open transactions count at their maximum cost. */
  spent: bigint;
};

/** The lamports that each receipt on Solana locks up until it is closed. */
const RECEIPT_RENT = 2_039_280;

export async function listKeyStates(db: Db, chain: string | null = null): Promise<KeyState[]> {
  const { rows } = await sql<Omit<KeyState, 'spent'> & { spent: string }>`
    select k.chain, k.address, k.next_nonce as "nextNonce", k.lease_until as "leaseUntil", k.good_round_at as "goodRoundAt",
      extract(epoch from k.good_round_at)::float8 as "goodRoundSeconds",
      case when k.lease_until > now() and ${nodeIsAlive('k.node')} then k.node end as holder, (
        select coalesce(sum(coalesce(t.fee_paid, (case when t.nonce is null then 1 else t.gas end) * (
            select max(a.max_fee) from operator_attempts a where a.transaction_id = t.id))
          + case when t.nonce is null then ${RECEIPT_RENT}::int else 0 end), 0)::text
        from operator_transactions t
        where t.chain = k.chain and t.signer = k.address and t.inserted_at > now() - interval '24 hours'
          and t.state <> 'displaced') as spent
    from operator_keys k where ${chain}::text is null or k.chain = ${chain} order by k.chain, k.address`.execute(
    db,
  );
  return rows.map((row) => ({ ...row, spent: BigInt(row.spent) }));
}

export type OpenState = KeyId & {
  id: string;
  kind: string;
  nonce: bigint | null;
  requested: string | null;
  ageSeconds: number;
};

export async function listOpenStates(db: Db, chain: string): Promise<OpenState[]> {
  const { rows } = await sql<OpenState>`
    select chain, signer as address, id, kind, nonce, requested,
      extract(epoch from now() - inserted_at)::int as "ageSeconds"
    from operator_transactions where chain = ${chain} and state = 'open' order by inserted_at, id`.execute(
    db,
  );
  return rows;
}
