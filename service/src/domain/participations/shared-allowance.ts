import { ApiError } from '../../kernel/errors.ts';
import type { Db } from '../../platform/db/pool.ts';
import type { ApprovalReader, GoodFinding, RequiredApproval } from './approval.ts';
import { type AvailableFunds, findShortage, type Shortage } from './funds.ts';
import { listUnsettled, lockPayments } from './shared-allowance-store.ts';

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
