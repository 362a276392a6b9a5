import type { Db } from '../db/pool.ts';
import type { KeyId } from './account.ts';
import { insertLandedReceipt, insertPaidRefund } from './receipt-store.ts';
import type { ReceiptTransaction } from './receipt-transaction.ts';

/**
 * Records a Solana transaction that was sent with another key, or by a service with another database. The caller must
 * have found the transaction's finalized receipt account, which proves that the transaction succeeded. Returns the id
 * of the recorded transaction.
 */
export function adoptReceipt(
  tx: Db,
  key: KeyId,
  transaction: Pick<ReceiptTransaction, 'id' | 'kind' | 'receipt'> & { fund: string },
): Promise<string> {
  return insertLandedReceipt(tx, key, transaction);
}

/**
 * Records a Solana transaction with which somebody paid a refund by hand. It created no receipt account, so its
 * `receipt` is recorded as already closed.
 */
export function adoptPaidRefund(
  tx: Db,
  key: KeyId,
  transaction: Pick<ReceiptTransaction, 'id' | 'receipt'> & { fund: string; signature: string },
): Promise<void> {
  return insertPaidRefund(tx, key, transaction);
}
