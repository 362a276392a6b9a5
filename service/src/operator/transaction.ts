import type { Hex } from 'viem';
import type { OperatorTransactions } from '../db/settlement-tables.ts';

/** `fill` uses up a nonce; the other kinds have a meaning only for the code that requests them. */
export type TransactionKind = OperatorTransactions['kind'];

/** A contract call that the operator signs. */
export type OperatorCall = { kind: TransactionKind; target: Hex; data: Hex; gas: bigint };

/** A call that was assigned a nonce. */
export type OperatorTransaction = OperatorCall & { id: string; nonce: bigint };

/** One signed version of a transaction. All versions share the nonce, so that at most one is mined. */
export type Attempt = {
  hash: Hex;
  raw: Hex;
  maxFee: bigint;
  priorityFee: bigint;
  /** Seconds since it was signed. */
  age: number;
  /** Seconds since a node accepted it; null if none has. */
  sentAge: number | null;
};

/** What an operator can ask for an unmined transaction: higher fees, or an empty transfer in its place. */
export type ReplacementAction = 'bump' | 'cancel';

export type OpenTransaction = OperatorTransaction & {
  requested: ReplacementAction | null;
  /** Lowest fee first. */
  attempts: Attempt[];
};

/** A settled transaction that a reorganisation could still undo. */
export type WatchedTransaction = {
  id: string;
  kind: TransactionKind;
  blockNumber: bigint;
  blockHash: Hex;
};

/** Where a transaction was mined and whether it succeeded. */
export type Mined = {
  hash: Hex;
  blockNumber: bigint;
  blockHash: Hex;
  succeeded: boolean;
  /** In wei. */
  feePaid: bigint;
};

export type SignedCall = { raw: Hex; maxFee: bigint; priorityFee: bigint };

/** Returns the attempt with the highest fees, which replaces all others. */
export function lastAttempt({ attempts }: OpenTransaction): Attempt {
  const last = attempts.at(-1);
  if (last === undefined) throw new Error('the transaction has no attempt');
  return last;
}
