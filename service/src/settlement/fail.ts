import type { Context } from '../context.ts';
import { changeStatus } from '../participations/status.ts';
import { postponeRows, type SettlementRow } from './store.ts';
import type { SettlementWorker } from './worker.ts';

const UNEXCLUDED_ROW_DELAY_SECONDS = 5;

/**
 * Returns the rows that can safely fail: no transaction has committed them or can still commit them. Transactions that
 * this database lost in a failover count too. Postpones the other rows.
 */
export async function keepFailing(worker: SettlementWorker, rows: SettlementRow[]): Promise<SettlementRow[]> {
  if (rows.length === 0) return [];
  const { ctx, driver } = worker;
  const failing = await driver.keepExcluded(rows);
  const waiting = rows.filter((row) => !failing.includes(row)).map(({ id }) => id);
  if (waiting.length > 0) await postponeRows(ctx.db, waiting, UNEXCLUDED_ROW_DELAY_SECONDS);
  return failing;
}

/** Fails pending rows. Returns how many were still pending. */
export async function failPending(
  ctx: Context,
  rows: readonly Pick<SettlementRow, 'id'>[],
  reason: string,
): Promise<number> {
  const change = { ids: rows.map(({ id }) => id), from: ['pending'] as const, to: 'failed' as const, reason };
  return ctx.db.transaction().execute((tx) => changeStatus(ctx, tx, change));
}
