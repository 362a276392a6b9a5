import type { Hex } from 'viem';
import type { Database } from '../db/tables.ts';

/** A `fill` transaction only uses up a nonce. Only the code that requested a transaction distinguishes the others. */
export type TransactionKind = Database['operator_transactions']['kind'];

export type OperatorCall = { kind: TransactionKind; target: Hex; data: Hex; gas: bigint };

export type OperatorTransaction = OperatorCall & { id: string; nonce: bigint };

/** One signed version of a transaction. All versions share the nonce, so that at most one is mined. */
export type Attempt = {
  hash: Hex;
  raw: Hex;
  maxFee: bigint;
  priorityFee: bigint;
  /** Seconds since the attempt was signed. */
  age: number;
  /** Seconds since a node accepted the attempt; null if no node has accepted it. */
  sentAge: number | null;
};

/** `bump` raises the fees of an unmined transaction, `cancel` replaces it with an empty transfer. */
export type ReplacementAction = 'bump' | 'cancel';

export type OpenTransaction = OperatorTransaction & {
  requested: ReplacementAction | null;
  /** Lowest fee first. */
  attempts: Attempt[];
};

/** A settled transaction that a reorganization could still undo. */
export type WatchedTransaction = {
  id: string;
  kind: TransactionKind;
  blockNumber: bigint;
  blockHash: Hex;
};

export type Mined = {
  hash: Hex;
  blockNumber: bigint;
  blockHash: Hex;
  succeeded: boolean;
  /** In wei. */
  feePaid: bigint;
};

export type SignedCall = { raw: Hex; maxFee: bigint; priorityFee: bigint };

/** Returns the latest attempt. It has the highest fees, so nodes prefer it to the earlier attempts. */
export function lastAttempt({ attempts }: OpenTransaction): Attempt {
  const last = attempts.at(-1);
  if (last === undefined) throw new Error('the transaction has no attempt');
  return last;
}
