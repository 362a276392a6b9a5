import type { Context } from '../../platform/context/context.ts';
import { changeStatus } from '../holdings/participation-status.ts';
import { lockRemainingSupply } from '../holdings/supply.ts';
import {
  type ApprovalReader,
  type Finding,
  type GoodFinding,
  inspectApprovals,
  lockShortage,
  readSharedAllowance,
} from '../participations/approval.ts';
import { mayEnd } from './agreement.ts';
import { keepFailing } from './fail.ts';
import {
  freeApproval,
  hasPrepared,
  readDatabaseTime,
  type SettlementRow,
  setSource,
  takePrepared,
} from './store.ts';
import type { SettlementWorker } from './worker.ts';

/** How long an approval may stay unmined before its participation fails. */
export const APPROVAL_TTL_MS = 30 * 60_000;

const BATCH_ROWS = 50;
const HEADLESS_INTERVAL_SECONDS = 0.5;

/**
 * Checks the approvals of due prepared rows. A row is due when it is new, after each new head, and at the latest one
 * block time after its last check. Returns how many rows changed (`moved`), and whether prepared rows may remain
 * (`waiting`).
 */
export async function checkPrepared(worker: SettlementWorker): Promise<{ waiting: boolean; moved: number }> {
  const { ctx, driver, prepared } = worker;
  const { chain } = driver.key;
  const head = driver.head();
  // A new block may have changed any row's approval, so all rows become due.
  if (head !== prepared.head) Object.assign(prepared, { head, since: await readDatabaseTime(ctx.db) });
  // Checks rows again even without a new head, because the last check may have read a lagging node.
  const seconds =
    head === null ? Math.min(HEADLESS_INTERVAL_SECONDS, driver.blockTimeSeconds) : driver.blockTimeSeconds;
  const rows = await takePrepared(ctx.db, chain, BATCH_ROWS, seconds, prepared.since);
  if (rows.length === 0) return { waiting: await hasPrepared(ctx.db, chain), moved: 0 };
  const findings = await inspectApprovals(driver.reader(), rows);
  const moved = await Promise.all(
    rows.map(async (row, i) => {
      const finding = findings[i];
      return finding !== undefined && applyFinding(worker, row, finding);
    }),
  );
  return { waiting: true, moved: moved.filter(Boolean).length };
}

/** Applies the finding to the row. Returns whether the row's status changed. */
async function applyFinding(
  worker: SettlementWorker,
  row: SettlementRow,
  finding: Exclude<Finding, { state: 'good' }> | GoodFinding,
): Promise<boolean> {
  const { ctx, driver } = worker;
  if (finding.state === 'good') return reserve(worker, row, finding);
  const reason = failureReason(ctx, row, finding);
  if (reason === null) return false;
  // A row with a wrong approval can never have been committed, so there is no lost commit to look for.
  const state = finding.state === 'wrong' ? 'failing' : await findLostCommit(worker, row);
  if (state !== 'failing') return state === 'committed';
  const judge = async (reader: ApprovalReader): Promise<string> => {
    const [own] = await inspectApprovals(reader, [row]);
    return (own && failureReason(ctx, row, own)) ?? 'no failure';
  };
  return (await mayEnd(worker, driver.readers(), [row], reason, judge)) && fail(ctx, row, reason);
}

/**
 * Checks whether the row was committed on chain although this database has no record of it, for example after a
 * restore. Returns `committed` if it was, `waiting` while a commit may still land, and `failing` once no commit can
 * land any more.
 */
async function findLostCommit(
  worker: SettlementWorker,
  row: SettlementRow,
): Promise<'committed' | 'waiting' | 'failing'> {
  if ((await worker.driver.skipCommitted([row])).length === 0) return 'committed';
  return (await keepFailing(worker, [row])).length === 0 ? 'waiting' : 'failing';
}

/**
 * Returns why the row must fail, or null while it may still succeed. An approval times out only if both the current
 * time and the time of the latest block are past the deadline, because a stalled node may not have seen the approval.
 */
function failureReason(
  { clock }: Context,
  { preparedAt, readAt }: SettlementRow,
  finding: Finding,
): string | null {
  if (finding.state === 'short') return finding.shortage.code;
  if (finding.state === 'wrong') return finding.isConfirmed ? `approval_invalid: ${finding.reason}` : null;
  if (finding.state !== 'unmined') return null;
  const deadline = Date.parse(preparedAt) + APPROVAL_TTL_MS;
  const now = Date.parse(clock.lifetime() ?? readAt);
  return Math.min(now, finding.chainTime) > deadline ? 'approval_not_mined' : null;
}

async function fail(ctx: Context, { id }: SettlementRow, reason: string): Promise<boolean> {
  return ctx.db.transaction().execute(async (tx) => {
    const changed = await changeStatus(ctx, tx, { ids: [id], from: ['prepared'], to: 'failed', reason });
    if (changed === 1) await freeApproval(tx, id);
    return changed === 1;
  });
}

/**
 * Moves the row to `pending` and thereby reserves the row's amount from the option's supply. If too little supply is
 * left, the row fails. The row waits while its approval does not cover the participations that share its allowance.
 */
async function reserve(worker: SettlementWorker, row: SettlementRow, finding: GoodFinding): Promise<boolean> {
  const { ctx, driver } = worker;
  const { source } = finding;
  const shared = await readSharedAllowance(ctx.db, driver.reader(), row.chain, row, finding);
  if (shared === null) return false;
  const isReserved = await ctx.db.transaction().execute(async (tx) => {
    const remaining = await lockRemainingSupply(tx, row.optionId, row.decimals);
    if (remaining !== null && row.amount > remaining) return null;
    if ((await lockShortage(tx, shared)) !== null) return false;
    if (source !== null) await setSource(tx, row.id, source);
    return (await changeStatus(ctx, tx, { ids: [row.id], from: ['prepared'], to: 'pending' })) === 1;
  });
  if (isReserved !== null) return isReserved;
  const state = await findLostCommit(worker, row);
  if (state !== 'failing') return state === 'committed';
  return fail(ctx, row, 'sold_out');
}
