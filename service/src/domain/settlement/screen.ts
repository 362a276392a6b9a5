import type { Db } from '../../platform/db/pool.ts';
import {
  type CommitDecision,
  decideCommits,
  decideRefunds,
  EligibilityChanged,
} from '../eligibility/commit.ts';
import { freezeHeld } from '../holdings/participation-store.ts';
import { freezeSanctioned } from '../screening/hits.ts';
import { failPending, keepFailing } from './fail.ts';
import { lockStopped, postponeRows, type SettlementRow } from './store.ts';
import type { SettlementWorker } from './worker.ts';

const UNREADABLE_ROW_DELAY_SECONDS = 15;

/**
 * Returns the rows that may be sent. Freezes rows whose user is on hold or whose wallet is sanctioned. Marks rows as
 * failed if the user no longer meets a requirement or no longer has a valid proof of the wallet. Postpones rows that
 * cannot be checked now, and rows that should fail but that a transaction could still commit.
 */
export async function screenRows(
  worker: SettlementWorker,
  purpose: 'commit' | 'refund',
  rows: SettlementRow[],
): Promise<SettlementRow[]> {
  const { ctx } = worker;
  const decisions = await (purpose === 'commit' ? decideCommits : decideRefunds)(ctx, rows);
  const idsOf = (isWanted: (decision: CommitDecision) => boolean) =>
    rows.filter((_, i) => decisions[i] !== undefined && isWanted(decisions[i])).map(({ id }) => id);
  // The sanctions list may have changed since the rows were first screened.
  await freezeSanctioned(ctx, rows);
  const held = idsOf((decision) => decision.to === 'freeze' && decision.reason === 'hold');
  if (held.length > 0) await freezeHeld(ctx.db, held);
  const waiting = idsOf(({ to }) => to === 'wait');
  if (waiting.length > 0) await postponeRows(ctx.db, waiting, UNREADABLE_ROW_DELAY_SECONDS);
  const failing = await keepFailing(
    worker,
    rows.filter((_, i) => decisions[i]?.to === 'fail'),
  );
  for (const row of failing) {
    const decision = decisions[rows.indexOf(row)];
    if (decision?.to === 'fail') await failPending(ctx, [row], decision.reason);
  }
  return rows.filter((_, i) => decisions[i]?.to === 'send');
}

/**
 * Throws `EligibilityChanged` if a row was frozen, paused or marked as ending while its transaction was being signed.
 * Call this in the database transaction that stores the signed bytes. New freezes and pauses then wait until the
 * database transaction ends.
 */
export async function assertNotStopped(tx: Db, rows: readonly SettlementRow[]): Promise<void> {
  const ids = rows.map(({ id }) => id);
  if (await lockStopped(tx, ids)) throw new EligibilityChanged();
}

/**
 * Runs `send` and returns its result. If `send` throws `EligibilityChanged`, nothing was sent. In that case, returns
 * `count`, and the next step checks the rows again.
 */
export async function unlessEligibilityChanged(count: number, send: () => Promise<number>): Promise<number> {
  try {
    return await send();
  } catch (error) {
    if (error instanceof EligibilityChanged) return count;
    throw error;
  }
}
