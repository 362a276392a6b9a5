import { sql } from 'kysely';
import type { Hex } from 'viem';
import { showHash } from '../../platform/chain/address.ts';
import type { Db } from '../../platform/db/pool.ts';
import { isEmpty } from '../../platform/operator/rebroadcast.ts';
import type { RequiredFunds } from './funds.ts';

/** Participations that share an allowance become `pending` one at a time. */
export async function lockPayments(
  tx: Db,
  chain: string,
  { user, fund, token }: RequiredFunds,
): Promise<void> {
  const key = `payments ${chain} ${user} ${fund} ${token}`;
  await sql`select pg_advisory_xact_lock(hashtextextended(${key}, 0))`.execute(tx);
}

/**
 * Returns what the fund still has to take from the same source. `commits` identifies a commit in progress: by the
 * hashes of its attempts on EVM chains, by its receipt account on Solana. Leaves out attempts that are empty
 * transfers: once such a cancellation is mined, the fund still has to take the amount.
 */
export async function listUnsettled(
  db: Db,
  chain: string,
  { user, fund, token, source }: RequiredFunds,
): Promise<{ amount: bigint; approvalHash: string; commits: string[] }[]> {
  const { rows } = await sql<{
    amount: string;
    approval_hash: Buffer;
    receipt: string | null;
    attempts: { hash: Hex; raw: Hex }[] | null;
  }>`
    select p.amount::text, p.approval_hash, t.receipt, (
      select json_agg(json_build_object('hash', '0x' || encode(a.hash, 'hex'), 'raw', '0x' || encode(a.raw, 'hex')))
      from operator_attempts a where a.transaction_id = t.id and t.receipt is null) as attempts
    from participations p left join operator_transactions t on t.id = p.commit_id
    where p.chain = ${chain} and p.wallet_address = ${user} and p.fund_address = ${fund}
      and p.token_address = ${token} and p.source_address is not distinct from ${source}
      and p.status in ('pending', 'submitted')`.execute(db);
  return rows.map(({ amount, approval_hash, receipt, attempts }) => {
    const hashes = (attempts ?? []).flatMap(({ hash, raw }) => (isEmpty(raw) ? [] : [hash]));
    const commits = receipt === null ? hashes : [receipt];
    return { amount: BigInt(amount), approvalHash: showHash(approval_hash), commits };
  });
}

/** Whether a participation from the wallet holds the approval, and whether this service signed the transaction. */
export async function readApprovalUse(
  db: Db,
  chain: string,
  hash: Buffer,
  wallet: string,
): Promise<{ isUsed: boolean; isOwn: boolean }> {
  const { rows } = await sql<{ isUsed: boolean; isOwn: boolean }>`
    select exists (select from participations where chain = ${chain} and approval_hash = ${hash}
        and wallet_address = ${wallet} and holds_approval) as "isUsed",
      exists (select from operator_attempts where hash = ${hash}) as "isOwn"`.execute(db);
  return rows[0] ?? { isUsed: false, isOwn: false };
}
