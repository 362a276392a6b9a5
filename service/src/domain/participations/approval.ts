import { ApiError } from '../../kernel/errors.ts';
import type { Context } from '../../platform/context/context.ts';
import type { Db } from '../../platform/db/pool.ts';
import { listUnsettled, lockPayments } from './approval-store.ts';
import {
  type AvailableFunds,
  type FundsReader,
  findShortage,
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

/** What a participation needs, the commits that had landed, and what its wallet had available then or later. */
export type SharedAllowance = {
  chain: string;
  required: RequiredApproval;
  available: AvailableFunds;
  landed: ReadonlySet<string>;
};

/**
 * Reads which commits in progress have already reduced the available funds. A participation shares its allowance with
 * the wallet's other `pending` and `submitted` participations that pay the same fund in the same token.
 *
 * If a commit can have landed after the funds were read, reads them again. Otherwise, they would still contain what the
 * commit has taken, although its participation no longer counts. Returns null if they cannot be read now.
 */
export async function readSharedAllowance(
  db: Db,
  reader: ApprovalReader,
  chain: string,
  approval: RequiredApproval,
  { source, available, height }: GoodFinding,
): Promise<SharedAllowance | null> {
  const required = { ...approval, source };
  const rows = await listUnsettled(db, chain, required);
  const commits = rows.flatMap((row) => row.commits);
  const { landed, height: landedBy } = await reader.listLanded(commits, height);
  if (landedBy <= height) return { chain, required, available, landed };
  const [later = null] = await reader.readFunds([required], landedBy);
  if (later === null || later instanceof ApiError) return null;
  return { chain, required, available: later, landed };
}

/**
 * Returns what is missing for this participation and all that share its allowance, or null. Locks the shared allowance:
 * call this in the transaction that moves the participation to `pending`.
 */
export async function lockShortage(
  tx: Db,
  { chain, required, available, landed }: SharedAllowance,
): Promise<Shortage | null> {
  await lockPayments(tx, chain, required);
  const rows = await listUnsettled(tx, chain, required);
  // A row with the same approval was created by the same request, sent twice.
  const open = rows.filter(
    ({ approvalHash, commits }) =>
      approvalHash !== required.approvalHash && !commits.some((commit) => landed.has(commit)),
  );
  const amount = open.reduce((sum, row) => sum + row.amount, required.amount);
  return findShortage({ ...required, amount }, available);
}

/**
 * The initial status of a participation, the token account that was approved, and the allowance that a `pending`
 * participation shares with others.
 */
type JudgedApproval = {
  status: 'pending' | 'prepared';
  source_address: string | null;
  shared: SharedAllowance | null;
};

/** Judges the approval of a new participation. Throws if the approval cannot become valid. */
export async function judgeApproval(
  { db }: Context,
  reader: ApprovalReader,
  chain: string,
  required: RequiredApproval,
): Promise<JudgedApproval> {
  const [finding] = await inspectApprovals(reader, [required]);
  if (finding?.state === 'wrong') throw new ApiError('approval_invalid', { reason: finding.reason });
  if (finding?.state === 'unreadable') throw finding.error;
  if (finding?.state === 'short') throw new ApiError(finding.shortage.code, finding.shortage.details);
  const prepared = { status: 'prepared', source_address: null, shared: null } as const;
  if (finding?.state !== 'good') return prepared;
  const shared = await readSharedAllowance(db, reader, chain, required, finding);
  return shared === null ? prepared : { status: 'pending', source_address: finding.source, shared };
}
