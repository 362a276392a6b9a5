import { sql } from 'kysely';
import { showHash } from '../../platform/chain/address.ts';
import type { Db } from '../../platform/db/pool.ts';
import type { RequiredFunds } from './funds.ts';

/**
 * Locks the payments of a wallet's token to a fund until the transaction ends, so that participations become `pending`
 * one at a time.
 */
export async function lockPayments(
  tx: Db,
  chain: string,
  { user, fund, token }: RequiredFunds,
): Promise<void> {
  const key = `payments ${chain} ${user} ${fund} ${token}`;
  await sql`select pg_advisory_xact_lock(hashtextextended(${key}, 0))`.execute(tx);
}

/**
 * Returns the participations that the fund still has to take from the same source. `commits` identifies the transaction
 * of a commit in progress: on EVM chains by the hashes of its attempts, on Solana by its receipt account.
 */
export async function listUnsettled(
  db: Db,
  chain: string,
  { user, fund, token, source }: RequiredFunds,
): Promise<{ amount: bigint; approvalHash: string; commits: string[] }[]> {
  const { rows } = await sql<{ amount: string; approval_hash: Buffer; commits: string[] }>`
    select p.amount::text, p.approval_hash, case when t.receipt is not null then array[t.receipt] else array(
      select '0x' || encode(a.hash, 'hex') from operator_attempts a where a.transaction_id = t.id) end as commits
    from participations p left join operator_transactions t on t.id = p.commit_id
    where p.chain = ${chain} and p.wallet_address = ${user} and p.fund_address = ${fund}
      and p.token_address = ${token} and p.source_address is not distinct from ${source}
      and p.status in ('pending', 'submitted')`.execute(db);
  return rows.map(({ amount, approval_hash, commits }) => ({
    ...{ amount: BigInt(amount), approvalHash: showHash(approval_hash), commits },
  }));
}
