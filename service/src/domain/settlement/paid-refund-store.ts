import { base58 } from '@scure/base';
import { sql } from 'kysely';
import type { Db } from '../../platform/db/pool.ts';
import { SETTLEMENT_COLUMNS, type SettlementRow, type StoredRow, toSettlementRow } from './store.ts';

/** A participation whose refund may have been paid by hand. */
export type PaidRow = SettlementRow & {
  committed: boolean | null;
  /**
   * The commit; null if there is none. `signer` is its key. `slot` is the slot of the commit or a later one, or null if
   * only the receipt of the commit is known.
   */
  commit: { signer: string; receipt: string; slot: bigint | null } | null;
  /** The state of the service's own refund transaction; null if there is none. */
  refundState: string | null;
};

type StoredPaidRow = StoredRow & {
  committed: boolean | null;
  signer: string | null;
  receipt: string | null;
  block_number: bigint | null;
  refund_state: string | null;
};

/**
 * Locks and returns a participation, or returns null if it does not exist. Until the database transaction ends, no
 * other call records a refund that was paid by hand.
 */
export async function lockPaidRow(tx: Db, id: string): Promise<PaidRow | null> {
  await sql`select pg_advisory_xact_lock(hashtext('refunds paid by hand'))`.execute(tx);
  // Takes the lock in a separate statement, so that the next statement sees a refund that was sent before the lock was
  // acquired.
  await sql`select from participations where id = ${id} for update`.execute(tx);
  const { rows } = await sql<StoredPaidRow>`
    select ${SETTLEMENT_COLUMNS}, p.committed, c.signer, c.receipt, c.block_number, r.state as refund_state
    from participations p left join operator_transactions c on c.id = p.commit_id
      left join operator_transactions r on r.id = p.remit_id
    where p.id = ${id}`.execute(tx);
  const [row] = rows;
  if (row === undefined) return null;
  const { committed, signer, receipt, block_number: slot, refund_state: refundState } = row;
  const commit = signer === null || receipt === null ? null : { signer, receipt, slot };
  return { ...toSettlementRow(row), committed, commit, refundState };
}

/** Returns how many refunds of this amount to the same wallet are already recorded as paid by the transaction. */
export async function countRecorded(
  tx: Db,
  signature: string,
  { chain, user, token, amount }: SettlementRow,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from participations p join operator_transactions t on t.id = p.remit_id
    where t.chain = ${chain} and t.mined_hash = ${Buffer.from(base58.decode(signature))}
      and p.wallet_address = ${user} and p.token_address = ${token} and p.amount = ${String(amount)}`.execute(
    tx,
  );
  return rows[0]?.count ?? 0;
}

/** Records which transaction has paid the participation's refund. */
export async function setPaidRefund(tx: Db, id: string, transactionId: string): Promise<void> {
  await sql`update participations set remit_id = ${transactionId}, remit_row = 0 where id = ${id}`.execute(
    tx,
  );
}
