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
 * `not_an_approval`: this service sent the transaction, or it moved this token from the wallet to the fund: many
 * tokens emit `Approval` in `transferFrom`, which only reports what is left of an earlier approval. `token`, `owner`,
 * `spender` and `amount` are checked in this order; the fault is the first check that no approval passes.
 */
export type ApprovalFault =
  | 'reverted'
  | 'not_an_approval'
  | 'no_approval'
  | 'token'
  | 'owner'
  | 'spender'
  | 'amount';

export type Finding =
  /** `chainTime` is the time of the latest block, in milliseconds since the epoch. */
  | { state: 'unmined'; chainTime: number }
  | { state: 'unconfirmed' }
  /** If `isConfirmed` is false, a reorganization can still change the finding. */
  | { state: 'wrong'; reason: ApprovalFault; isConfirmed: boolean }
  | { state: 'short'; shortage: Shortage }
  /** The token contract does not behave like a token. New participations are rejected; existing ones wait. */
  | { state: 'unreadable'; error: ApiError }
  /** `source` is the token account that was approved; null on EVM chains. */
  | { state: 'good'; source: string | null };

/** A valid approval, with the allowance and balance at `height` or later. */
export type GoodFinding = Extract<Finding, { state: 'good' }> & { available: AvailableFunds; height: bigint };

export type ApprovalReader = FundsReader & {
  /**
   * Checks only the transactions, not current allowances and balances. `height`, for `readFunds`, is the latest block
   * on EVM chains, and the newest slot of these transactions on Solana.
   */
  inspectReceipts(required: readonly RequiredApproval[]): Promise<{ findings: Finding[]; height: bigint }>;
  /**
   * Returns which of these commits (EVM: hashes of transactions; Solana: accounts that they create) have landed by
   * `height`, and the height from which on funds show what they have taken.
   */
  listLanded(commits: readonly string[], height: bigint): Promise<{ landed: Set<string>; height: bigint }>;
};

/** Also checks current allowances and balances, because an approval may have been spent or revoked meanwhile. */
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
 * A participation shares its allowance with the wallet's other `pending` and `submitted` ones that pay the same fund
 * in the same token. If a commit can have landed after the funds were read, reads them again: otherwise they would
 * still contain what it has taken, although its participation no longer counts. Null if they cannot be read now.
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
 * Returns what is missing for all that share the allowance, or null. Locks it: call this in the transaction that
 * moves the participation to `pending`.
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

/** `shared` is the allowance that a `pending` participation shares with others. */
type JudgedApproval = {
  status: 'pending' | 'prepared';
  source_address: string | null;
  shared: SharedAllowance | null;
};

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
