import { base58 } from '@scure/base';
import { sql } from 'kysely';
import type { Db } from '../db/pool.ts';
import { SETTLEMENT_COLUMNS, type SettlementRow, type StoredRow, toSettlementRow } from './store.ts';

/** A participation whose refund may have been paid by hand. */
export type PaidRow = SettlementRow & {
  committed: boolean | null;
  /** The key that committed the participation; null if there is no commit. */
  signer: string | null;
  /** The state of the service's own refund transaction; null if there is none. */
  refundState: string | null;
};

type StoredPaidRow = StoredRow & {
  committed: boolean | null;
  signer: string | null;
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
    select ${SETTLEMENT_COLUMNS}, p.committed, c.signer, r.state as refund_state
    from participations p left join operator_transactions c on c.id = p.commit_id
      left join operator_transactions r on r.id = p.remit_id
    where p.id = ${id}`.execute(tx);
  const [row] = rows;
  if (row === undefined) return null;
  const { committed, signer, refund_state: refundState } = row;
  return { ...toSettlementRow(row), committed, signer, refundState };
}

/**
 * Returns how many refunds of this amount to the same wallet are already recorded as paid by the transaction, and
 * whether the service itself sent the transaction.
 */
export async function countRecorded(
  tx: Db,
  signature: string,
  { chain, user, token, amount }: SettlementRow,
): Promise<{ count: number; isOwn: boolean }> {
  const hash = Buffer.from(base58.decode(signature));
  const { rows } = await sql<{ count: number; isOwn: boolean }>`
    select exists (select from operator_attempts where hash = ${hash}) as "isOwn", (
      select count(*)::int from participations p join operator_transactions t on t.id = p.remit_id
      where t.chain = ${chain} and t.mined_hash = ${hash} and p.wallet_address = ${user}
        and p.token_address = ${token} and p.amount = ${String(amount)}) as count`.execute(tx);
  return rows[0] ?? { count: 0, isOwn: false };
}

/** Records which transaction has paid the participation's refund. */
export async function setPaidRefund(tx: Db, id: string, transactionId: string): Promise<void> {
  await sql`update participations set remit_id = ${transactionId}, remit_row = 0 where id = ${id}`.execute(
    tx,
  );
}
