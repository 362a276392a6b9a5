import type { Context } from '../../platform/context/context.ts';
import { changeStatus } from '../holdings/participation-status.ts';
import { postponeRows, type SettlementRow } from './store.ts';
import type { SettlementWorker } from './worker.ts';

const UNEXCLUDED_ROW_DELAY_SECONDS = 5;

/**
 * Returns the rows that can safely be marked as failed, and postpones the others. A row can safely fail if no
 * transaction has committed it or can still commit it. This also covers transactions that this database lost in a
 * failover.
 */
export async function keepFailing(worker: SettlementWorker, rows: SettlementRow[]): Promise<SettlementRow[]> {
  if (rows.length === 0) return [];
  const { ctx, driver } = worker;
  const failing = await driver.keepExcluded(rows);
  const waiting = rows.filter((row) => !failing.includes(row)).map(({ id }) => id);
  if (waiting.length > 0) await postponeRows(ctx.db, waiting, UNEXCLUDED_ROW_DELAY_SECONDS);
  return failing;
}

/** Marks pending rows as failed. Returns how many rows were still pending. */
export async function failPending(
  ctx: Context,
  rows: readonly Pick<SettlementRow, 'id'>[],
  reason: string,
): Promise<number> {
  const change = { ids: rows.map(({ id }) => id), from: ['pending'] as const, to: 'failed' as const, reason };
  return ctx.db.transaction().execute((tx) => changeStatus(ctx, tx, change));
}
