import { sql } from 'kysely';
import type { Db } from '../db/pool.ts';
import type { KeyId } from './account.ts';

export type ClosableReceipt = { id: string; receipt: string };

/**
 * Returns the receipts that can be closed, ordered by transaction id. These conditions must be met:
 * - The receipt's transaction is final.
 * - All attempts of that transaction were signed more than `days` days ago and have expired by block height `height`.
 * - None of that transaction's participations is still `submitted` or `remit_submitted`.
 */
export async function listClosable(
  db: Db,
  { chain, address }: KeyId,
  { days, height, after, limit }: { days: number; height: bigint; after: string; limit: number },
): Promise<ClosableReceipt[]> {
  const { rows } = await sql<ClosableReceipt>`
    select t.id, t.receipt from operator_transactions t
    where t.chain = ${chain} and t.signer = ${address} and t.state = 'final'
      and t.receipt is not null and t.receipt_closed_at is null and t.id > ${after}::uuid
      and t.inserted_at < now() - make_interval(days => ${days})
      and not exists (
        select from operator_attempts a where a.transaction_id = t.id
          and (a.last_valid_height >= ${height} or a.inserted_at > now() - make_interval(days => ${days})))
      and not exists (
        select from participations p where t.id in (p.commit_id, p.remit_id)
          and p.status in ('submitted', 'remit_submitted'))
    order by t.id limit ${limit}`.execute(db);
  return rows;
}

export async function markReceiptsClosed(db: Db, ids: readonly string[]): Promise<void> {
  await sql`
    update operator_transactions set receipt_closed_at = now() where id = any(${ids}::uuid[])`.execute(db);
}
