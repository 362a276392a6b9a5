import type { Hex } from 'viem';
import { parseTransaction } from 'viem/utils';
import type { Db } from '../db/pool.ts';
import type { OperatorAccount } from './account.ts';
import { Blocked } from './blocked.ts';
import { isOutbid, proposeFees, raiseFees, readFeeMarket } from './fees.ts';
import { type Lease, withLease } from './lease.ts';
import { endRequest } from './replacement-store.ts';
import { assertWithinDailyLimit, broadcast, emptyCall, resend, signCall } from './sender.ts';
import { insertAttempt } from './store.ts';
import {
  lastAttempt,
  type OpenTransaction,
  type OperatorCall,
  type ReplacementAction,
} from './transaction.ts';

export type ResendTimings = {
  /** Whether a node has accepted the transaction or not: nodes can forget pending transactions. */
  resendSeconds: number;
  /** Seconds after which an unmined transaction is replaced by one with higher fees. */
  bumpSeconds: number;
  /** Blocks that must be mined without the transaction. On a stalled chain, higher fees do not help. */
  bumpBlocks: bigint;
};

/** Whether the state that an unmined transaction relies on is still on the chain, or not known yet. */
export type PrerequisiteState = 'met' | 'unknown' | 'gone';

/**
 * Sends an unmined transaction again, and raises its fees if it stays unmined.
 * - Raises the fees only of the transaction with the lowest nonce, because the others cannot be mined before it. But an
 *   operator can request higher fees for any transaction.
 * - Replaces the transaction with an empty transfer if its prerequisite is gone, or if `mayResign` forbids signing it
 *   again with higher fees. The nonce must be used in any case.
 * - Sends nothing while the state of the prerequisite is unknown, except a cancellation that an operator requested.
 */
export async function rebroadcast(
  account: OperatorAccount,
  lease: Lease,
  transaction: OpenTransaction,
  options: {
    timings: ResendTimings;
    isFirst: boolean;
    prerequisite: PrerequisiteState;
    blocks: bigint;
    mayResign(tx: Db): Promise<boolean>;
  },
): Promise<void> {
  const { timings, isFirst, prerequisite, blocks, mayResign } = options;
  const { requested } = transaction;
  // A cancellation sends an empty transfer, which does not depend on the prerequisite.
  if (requested === 'cancel') return fulfil(account, lease, transaction, requested, mayResign);
  if (prerequisite === 'unknown') return;
  const last = lastAttempt(transaction);
  if (prerequisite === 'gone' && !isEmpty(last.raw)) return cancel(account, lease, transaction);
  if (requested === 'bump') return fulfil(account, lease, transaction, requested, mayResign);
  const refusal = await resend(account, last, timings.resendSeconds);
  if (!isFirst || last.age <= timings.bumpSeconds) return;
  if (refusal === null && (last.sentAge === null || blocks < timings.bumpBlocks)) return;
  if (refusal !== null && refusal.rejection !== 'fee_too_low')
    throw new Blocked('refused', `the node rejected a transaction: ${refusal.message}`);
  const market = await readFeeMarket(account.chain);
  if (refusal === null && !isOutbid(last, market, account)) return;
  if (prerequisite === 'gone' || !(await bump(account, lease, transaction, mayResign)))
    await cancel(account, lease, transaction);
}

/**
 * A request that cannot be carried out now, for example because of the fee caps, is dropped with the reason: it would
 * otherwise fail in every round and block the key.
 */
async function fulfil(
  account: OperatorAccount,
  lease: Lease,
  transaction: OpenTransaction,
  action: ReplacementAction,
  mayResign: (tx: Db) => Promise<boolean>,
): Promise<void> {
  try {
    if (action === 'cancel' || !(await bump(account, lease, transaction, mayResign)))
      await cancel(account, lease, transaction);
  } catch (error) {
    if (error instanceof Blocked)
      await withLease(account.db, lease, (tx) => endRequest(tx, transaction.id, action, error.message));
    throw error;
  }
}

function bump(
  account: OperatorAccount,
  lease: Lease,
  transaction: OpenTransaction,
  mayResign: (tx: Db) => Promise<boolean>,
): Promise<boolean> {
  const isEnding = isEmpty(lastAttempt(transaction).raw);
  const call = isEnding ? emptyCall(account.signer) : transaction;
  return replace(account, lease, transaction, call, isEnding ? async () => true : mayResign);
}

/** Replaces the transaction with an empty transfer, which only uses up the nonce. */
async function cancel(account: OperatorAccount, lease: Lease, transaction: OpenTransaction): Promise<void> {
  await replace(account, lease, transaction, emptyCall(account.signer), async () => true);
}

/** Stores nothing if `mayResign`, which runs in the same database transaction, returns false. */
async function replace(
  account: OperatorAccount,
  lease: Lease,
  transaction: OpenTransaction,
  call: Omit<OperatorCall, 'kind'>,
  mayResign: (tx: Db) => Promise<boolean>,
): Promise<boolean> {
  const proposed = await proposeFees(account.chain, account);
  const fees = raiseFees(lastAttempt(transaction), proposed, account);
  if (fees === null)
    throw new Blocked('fee_cap', 'replacing an unmined transaction would exceed the fee cap');
  await assertWithinDailyLimit(account, call.gas * (fees.maxFee - lastAttempt(transaction).maxFee));
  const signed = await signCall(account, call, transaction.nonce, fees);
  const isStored = await withLease(account.db, lease, async (tx) => {
    if (!(await mayResign(tx))) return false;
    await insertAttempt(tx, transaction.id, signed);
    if (transaction.requested !== null) await endRequest(tx, transaction.id, transaction.requested);
    return true;
  });
  if (isStored) await broadcast(account, signed.raw);
  return isStored;
}

/** Returns whether the mined attempt is an empty transfer that was sent instead of the call. */
export function isCancelled({ kind, attempts }: OpenTransaction, minedHash: Hex): boolean {
  const mined = attempts.find(({ hash }) => hash === minedHash);
  return kind !== 'fill' && mined !== undefined && isEmpty(mined.raw);
}

/** Returns whether signed bytes are an empty transfer. */
export function isEmpty(raw: Hex): boolean {
  return parseTransaction(raw).data === undefined;
}
