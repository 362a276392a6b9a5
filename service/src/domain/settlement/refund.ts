import type { Db } from '../../platform/db/pool.ts';
import { lockRefunds } from '../eligibility/commit.ts';
import { changeStatus } from '../holdings/participation-status.ts';
import { freezeSanctioned } from '../screening/hits.ts';
import { skipFundIfBlocked } from './postpone.ts';
import { assertNotStopped, screenRows, unlessEligibilityChanged } from './screen.ts';
import { assignRefund, listToRemit, type SettlementRow } from './store.ts';
import type { SettlementWorker, WorkerParts } from './worker.ts';

export const MAX_REFUND_ROWS = 50;

/**
 * Sends the oldest due refunds, all with the same fund, option and token. Returns how many refunds it has handled,
 * whether sent or not, or 0 if none is due.
 */
export async function remitNext(worker: SettlementWorker): Promise<number> {
  const { ctx, driver } = worker;
  const blocks = driver.refundableBlocks();
  if (blocks === null) return 0;
  const skipped = [...worker.skippedFunds.refund.keys()];
  const listed = await listToRemit(ctx.db, driver.key.chain, blocks, skipped, MAX_REFUND_ROWS);
  if (listed.length === 0) return 0;
  const rows = await screenRows(worker, 'refund', await freezeSanctioned(ctx, listed));
  if (rows.length === 0) return listed.length;
  return skipFundIfBlocked(worker, 'refund', rows, () =>
    unlessEligibilityChanged(rows.length, () => driver.sendRefunds(rows)),
  );
}

/**
 * Assigns rows to their refund transaction. Runs in the database transaction that stores the signed bytes of the refund
 * transaction. Throws if the rows may no longer be refunded.
 */
export async function submitRefunds(
  ctx: WorkerParts['ctx'],
  tx: Db,
  transactionId: string,
  rows: readonly SettlementRow[],
): Promise<void> {
  await lockRefunds(ctx, tx, rows);
  await assertNotStopped(tx, rows);
  const ids = rows.map((row) => row.id);
  if ((await assignRefund(tx, transactionId, ids)) !== rows.length)
    throw new Error('the status of a refund changed concurrently');
}

export async function failRefund(ctx: WorkerParts['ctx'], id: string, reason: string): Promise<void> {
  const change = { ids: [id], from: ['remit_submitted'] as const, to: 'remit_failed' as const, reason };
  await ctx.db.transaction().execute((tx) => changeStatus(ctx, tx, change));
}
