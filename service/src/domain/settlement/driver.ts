import type { SendingRole } from '../../kernel/config/role.ts';
import type { KeyId } from '../../platform/operator/account.ts';
import type { Progress } from '../../platform/operator/follow.ts';
import type { Lease } from '../../platform/operator/lease.ts';
import type { ApprovalReader } from '../participations/approval.ts';
import type { RefundableBlocks, SettlementRow } from './store.ts';

/**
 * The operations that settlement needs from a chain. Everything else, such as statuses and eligibility
 * checks, is the same on every chain.
 */
export type SettlementDriver = {
  /** The chain and the operator's address on it. */
  key: KeyId;
  /** The roles of this worker's key. Other keys have the remaining roles. */
  roles: readonly SendingRole[];
  blockTimeSeconds: number;
  /** How often open transactions are checked, in milliseconds. */
  watchIntervalMs: number;
  /**
   * Maximum number of transactions waiting to be mined at a time. Mined transactions that await confirmations
   * do not count.
   */
  maxUnmined: number;
  /** Maximum number of transactions that one step (`sendCommits` or `sendRefunds`) sends. */
  transactionsPerStep: number;
  /** Returns a reader for approvals, allowances and balances. The reader may use any RPC node. */
  reader(): ApprovalReader;
  /** Returns one reader per independent provider. */
  readers(): ApprovalReader[];
  /** Returns the id of the newest block that `follow` has seen, or null if it has seen none. Always null on Solana. */
  head(): string | null;
  /** Discards the cached state of the chain. Called when another node holds the lease. */
  reset(): void;
  /** Checks every open transaction once. Records its outcome, or sends the transaction again if necessary. */
  follow(lease: Lease): Promise<Progress>;
  /**
   * Sends the oldest due revocation of an allow-list entry, or postpones it if it is blocked. Returns 0 if none is due.
   */
  revokeNext(): Promise<number>;
  /**
   * Returns the rows that are not committed on the chain. The other rows were committed by transactions that this
   * database does not know. On Solana, those rows become `completed`. On EVM chains, their offers are paused.
   */
  skipCommitted(rows: SettlementRow[]): Promise<SettlementRow[]>;
  /**
   * Returns the rows that can safely be marked as failed: no transaction has committed them, and no transaction signed
   * so far can still commit them. This also covers signed transactions that a restored database no longer contains.
   */
  keepExcluded(rows: SettlementRow[]): Promise<SettlementRow[]>;
  /**
   * Commits rows that have passed all checks and belong to one fund. Returns how many rows it has handled, whether sent
   * or not.
   */
  sendCommits(rows: SettlementRow[]): Promise<number>;
  /** Returns the limits that decide which refunds may be sent, or null while the limits are unknown. */
  refundableBlocks(): RefundableBlocks | null;
  /**
   * Refunds rows that have passed all checks and have the same fund, option and token. Returns how many rows it has
   * handled, whether sent or not.
   */
  sendRefunds(rows: SettlementRow[]): Promise<number>;
};
