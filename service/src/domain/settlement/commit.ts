import type { Db } from '../../platform/db/pool.ts';
import { lockCommits } from '../eligibility/commit.ts';
import { changeStatus, failParticipations } from '../holdings/participation-status.ts';
import { freezeSanctioned } from '../screening/hits.ts';
import { keepFunded } from './check-funds.ts';
import { failPending, keepFailing } from './fail.ts';
import { type ExpiryLimits, listEnding, listExpired, listPending } from './pending-store.ts';
import { skipFundIfBlocked } from './postpone.ts';
import { assertNotStopped, screenRows, unlessEligibilityChanged } from './screen.ts';
import type { SettlementRow } from './store.ts';
import type { SettlementWorker, WorkerParts } from './worker.ts';

const MAX_EXPIRED_ROWS = 100;

/** Maximum number of rows per transaction. Keeps a batch well below the gas limits of simulations and blocks. */
export const MAX_COMMIT_ROWS = 36;

/**
 * Commits the oldest pending rows of one fund. Returns how many rows it has handled, whether sent or not, or 0 if there
 * is nothing to do.
 */
export async function commitNext(worker: SettlementWorker): Promise<number> {
  const { ctx, driver } = worker;
  const limits = { clock: ctx.clock, defaultHours: ctx.config.pendingTtlHours };
  const failed = (await failEnding(worker)) + (await expirePending(worker, limits));
  if (failed > 0) return failed;
  const skipped = [...worker.skippedFunds.commit.keys()];
  const listed = await listPending(ctx.db, driver.key.chain, limits, skipped, MAX_COMMIT_ROWS);
  const uncommitted = await driver.skipCommitted(listed);
  const { approved, height } = await returnUnapproved(worker, await freezeSanctioned(ctx, uncommitted));
  const rows = await screenRows(worker, 'commit', await keepFunded(worker, approved, height));
  if (rows.length === 0) return listed.length;
  return skipFundIfBlocked(worker, 'commit', rows, () =>
    unlessEligibilityChanged(rows.length, () => driver.sendCommits(rows)),
  );
}

/**
 * Sets rows to `failed` if they have been pending for too long, because the user may no longer want them. Returns how
 * many rows it changed. A row that may have been committed stays pending for now, but is no longer sent.
 */
async function expirePending(worker: SettlementWorker, limits: ExpiryLimits): Promise<number> {
  const { ctx, driver } = worker;
  const listed = await listExpired(ctx.db, driver.key.chain, limits, MAX_EXPIRED_ROWS);
  const failing = await keepWithoutCommit(worker, listed);
  return failing.length === 0 ? 0 : failPending(ctx, failing, 'expired');
}

/**
 * Sets rows to `failed` if an operator or another part of the service has given them an `ending_reason`. Returns how
 * many rows it changed. Rows that may have been committed wait for a later call.
 */
async function failEnding(worker: SettlementWorker): Promise<number> {
  const { ctx, driver } = worker;
  const listed = await listEnding(ctx.db, driver.key.chain, MAX_EXPIRED_ROWS);
  const failing = await keepWithoutCommit(worker, listed);
  let failed = 0;
  for (const { id, reason } of failing)
    failed += await ctx.db.transaction().execute((tx) => failParticipations(ctx, tx, [id], reason));
  return failed;
}

/**
 * Returns the rows that can safely be marked as failed. Leaves out rows that were committed, or may still be committed,
 * by a transaction missing from this database, for example after a restore from a backup.
 */
async function keepWithoutCommit<R extends SettlementRow>(worker: SettlementWorker, rows: R[]): Promise<R[]> {
  const failing = new Set<SettlementRow>();
  for (const fund of new Set(rows.map((row) => row.fund))) {
    const uncommitted = await worker.driver.skipCommitted(rows.filter((row) => row.fund === fund));
    for (const row of await keepFailing(worker, uncommitted)) failing.add(row);
  }
  return rows.filter((row) => failing.has(row));
}

/**
 * Moves rows back to `prepared` if their approval is no longer mined or no longer confirmed. Returns the other rows,
 * and the height of the block at which the approvals were checked.
 */
async function returnUnapproved(
  { ctx, driver }: SettlementWorker,
  rows: SettlementRow[],
): Promise<{ approved: SettlementRow[]; height: bigint }> {
  if (rows.length === 0) return { approved: rows, height: 0n };
  const { findings, height } = await driver.reader().inspectReceipts(rows);
  const isUndone = (i: number) => findings[i]?.state === 'unmined' || findings[i]?.state === 'unconfirmed';
  const undone = rows.filter((_, i) => isUndone(i)).map(({ id }) => id);
  if (undone.length > 0) {
    const change = { from: ['pending'], to: 'prepared', preparedBy: ctx.clock } as const;
    await ctx.db.transaction().execute((tx) => changeStatus(ctx, tx, { ids: undone, ...change }));
  }
  return { approved: rows.filter((_, i) => !isUndone(i)), height };
}

/**
 * Moves rows to `submitted`, in the database transaction that stores the signed commit. Throws if one of the rows must
 * no longer be committed.
 */
export async function submitRows(
  ctx: WorkerParts['ctx'],
  tx: Db,
  transactionId: string,
  rows: readonly SettlementRow[],
): Promise<void> {
  await lockCommits(ctx, tx, rows);
  await assertNotStopped(tx, rows);
  const moved = await changeStatus(ctx, tx, {
    ids: rows.map(({ id }) => id),
    from: ['pending'],
    to: 'submitted',
    commitId: transactionId,
  });
  if (moved !== rows.length) throw new Error('the status of a pending participation changed concurrently');
}
