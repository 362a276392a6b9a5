import type { ApiError } from '../../kernel/errors.ts';
import {
  type AvailableFunds,
  type FundsReader,
  inspectFunds,
  type RequiredFunds,
  type Shortage,
} from './funds.ts';

/** The approval that a participation requires: `user` lets `fund` take `amount` of `token`. */
export type RequiredApproval = RequiredFunds & { approvalHash: string };

/**
 * Why the transaction does not contain the required approval. `not_an_approval` means that this service sent the
 * transaction, or that it moved this token from the wallet to the fund: many tokens emit `Approval` in `transferFrom`,
 * so such a transaction only reports what is left of an earlier approval. The checks `token`, `owner`, `spender` and
 * `amount` run in this order, and each drops the approvals that do not match. The fault is the first check after which
 * no approval is left.
 */
export type ApprovalFault =
  | 'reverted'
  | 'not_an_approval'
  | 'no_approval'
  | 'token'
  | 'owner'
  | 'spender'
  | 'amount';

/** The state of an approval transaction on the chain. */
export type Finding =
  /**
   * The node did not find the transaction. `chainTime` is the time of the latest block at that moment, in milliseconds
   * since the epoch.
   */
  | { state: 'unmined'; chainTime: number }
  | { state: 'unconfirmed' }
  /** If `isConfirmed` is false, a reorganization can still change the finding. */
  | { state: 'wrong'; reason: ApprovalFault; isConfirmed: boolean }
  | { state: 'short'; shortage: Shortage }
  /** The token contract does not behave like a token. New participations are rejected; existing ones wait. */
  | { state: 'unreadable'; error: ApiError }
  /**
   * `source` is the token account that was approved. It is null on EVM chains, where wallets have no token accounts.
   */
  | { state: 'good'; source: string | null };

/** A valid approval, with the allowance and balance at `height` or later. */
export type GoodFinding = Extract<Finding, { state: 'good' }> & { available: AvailableFunds; height: bigint };

/** Reads approvals and funds from the nodes of one chain. */
export type ApprovalReader = FundsReader & {
  /**
   * Checks only the approval transactions, not the current allowances and balances. Also returns the block height for
   * `readFunds`: on EVM chains, the height of the latest block; on Solana, the newest slot of these transactions.
   */
  inspectReceipts(required: readonly RequiredApproval[]): Promise<{ findings: Finding[]; height: bigint }>;
  /**
   * Returns which of these commits have landed, on EVM chains at block `height` or earlier. On EVM chains, `commits` are
   * the hashes of transactions. On Solana, they are the accounts that the commits create as their receipts. Also returns
   * the height from which on funds show what these commits have taken.
   */
  listLanded(commits: readonly string[], height: bigint): Promise<{ landed: Set<string>; height: bigint }>;
};

/**
 * Checks the approval transactions. Then also checks the current allowances and balances, because an approval may have
 * been spent or revoked since its transaction.
 */
export async function inspectApprovals(
  reader: ApprovalReader,
  required: readonly RequiredApproval[],
): Promise<(Exclude<Finding, { state: 'good' }> | GoodFinding)[]> {
  const { findings, height } = await reader.inspectReceipts(required);
  const good = required.flatMap((approval, i) => {
    const finding = findings[i];
    return finding?.state === 'good' ? [{ ...approval, source: finding.source }] : [];
  });
  const funds = await inspectFunds(reader, good, height);
  return findings.map((finding) => {
    if (finding.state !== 'good') return finding;
    const found = funds.shift() ?? { state: 'unconfirmed' };
    return found.state === 'good' ? { ...finding, available: found.available, height } : found;
  });
}
