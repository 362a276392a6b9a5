import type { Hex } from 'viem';
import { parseTransaction } from 'viem/utils';
import type { OperatorAccount } from './account.ts';
import { Blocked } from './blocked.ts';
import { proposeFees, raiseFees } from './fees.ts';
import { type Lease, withLease } from './lease.ts';
import { broadcast, emptyCall, isFeeError, signCall } from './sender.ts';
import { insertAttempt } from './store.ts';
import { lastAttempt, type OpenTransaction, type OperatorCall } from './transaction.ts';

export type ResendTimings = {
  /** Seconds after which accepted bytes are sent again, because nodes forget pending transactions. */
  resendSeconds: number;
  /** Seconds after which an unmined transaction is replaced by one with higher fees. */
  bumpSeconds: number;
};

/** Whether the state that an unmined transaction relies on is on the chain, unknown for now, or gone. */
export type PrerequisiteState = 'met' | 'unknown' | 'gone';

/**
 * Sends an unmined transaction again, and replaces it with higher fees if it stays unmined. Only the first one in nonce
 * order is replaced, since the others wait for it. A transaction whose prerequisite is gone is replaced by an empty
 * transfer, because its nonce must still be used; while the prerequisite is unknown it is not sent.
 */
export async function rebroadcast(
  account: OperatorAccount,
  lease: Lease,
  transaction: OpenTransaction,
  options: { timings: ResendTimings; isFirst: boolean; prerequisite: PrerequisiteState },
): Promise<void> {
  const { timings, isFirst, prerequisite } = options;
  if (prerequisite === 'unknown') return;
  const last = lastAttempt(transaction);
  const call = prerequisite === 'gone' ? emptyCall(account.signer) : transaction;
  if (prerequisite === 'gone' && !isEmpty(last.raw)) return replace(account, lease, transaction, call);
  const isDue = last.sentAge === null || last.sentAge > timings.resendSeconds;
  const rejection = isDue ? await broadcast(account, last.raw) : null;
  if (!isFirst || last.age <= timings.bumpSeconds) return;
  if (rejection === null && last.sentAge === null) return;
  if (rejection !== null && !isFeeError(rejection))
    throw new Blocked('refused', `the node rejects a transaction: ${rejection}`);
  await replace(account, lease, transaction, call);
}

async function replace(
  account: OperatorAccount,
  lease: Lease,
  transaction: OpenTransaction,
  call: Omit<OperatorCall, 'kind'>,
): Promise<void> {
  const proposed = await proposeFees(account.chain, account.maxFee);
  const fees = raiseFees(lastAttempt(transaction), proposed, account.maxFee);
  if (fees === null)
    throw new Blocked('fee_cap', 'replacing an unmined transaction would exceed the fee cap');
  const signed = await signCall(account, call, transaction.nonce, fees);
  await withLease(account.db, lease, (tx) => insertAttempt(tx, transaction.id, signed));
  await broadcast(account, signed.raw);
}

function isEmpty(raw: Hex): boolean {
  return parseTransaction(raw).data === undefined;
}
