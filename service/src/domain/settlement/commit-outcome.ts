import type { Context } from '../../platform/context/context.ts';
import type { Db } from '../../platform/db/pool.ts';
import { changeStatus } from '../holdings/participation-status.ts';
import { listWithoutOpenRefund, markCommitted, postponeRows, type SettlementRow } from './store.ts';

type Parts = Pick<Context, 'clock' | 'random'>;

/**
 * The ids of the participations in a commit or refund transaction, split into those that succeeded and those that
 * failed. `reason` is null unless the whole transaction failed.
 */
export type RowOutcome = { succeeded: string[]; failed: string[]; reason: string | null };

/** The reason stored for a row whose commit failed within a successful batch. */
export const COMMIT_FAILED = 'commit_failed';
const RELEASED_DELAY_SECONDS = 60;

export async function settleCommit(parts: Parts, tx: Db, outcome: RowOutcome): Promise<void> {
  const { succeeded, failed, reason } = outcome;
  await markCommitted(tx, succeeded, true);
  await changeStatus(parts, tx, { ids: succeeded, from: ['submitted'], to: 'completed' });
  await failUncommitted(parts, tx, failed, reason ?? COMMIT_FAILED);
}

/**
 * Records that the rows were not committed, and sets them to `failed`, even if their refund was requested. A row whose
 * refund is in an open transaction keeps its status until the outcome of that transaction decides it.
 */
export async function failUncommitted(parts: Parts, tx: Db, ids: string[], reason: string): Promise<void> {
  await markCommitted(tx, ids, false);
  await changeStatus(parts, tx, { ids, from: ['submitted', 'remit_failed'], to: 'failed', reason });
  const unsent = await listWithoutOpenRefund(tx, ids);
  await changeStatus(parts, tx, { ids: unsent, from: ['remit_submitted'], to: 'failed', reason });
}

/**
 * Moves rows back to `pending`, because their transaction reverted or was cancelled. Call this only after the
 * transaction's block is so deep that a reorganization can no longer change this outcome.
 */
export async function releaseCommit(parts: Parts, tx: Db, rows: readonly SettlementRow[]): Promise<void> {
  const ids = rows.map(({ id }) => id);
  await postponeRows(tx, ids, RELEASED_DELAY_SECONDS);
  await changeStatus(parts, tx, { ids, from: ['submitted'], to: 'pending', commitId: null });
}

/** Moves rows back to `submitted` after a reorganization has undone their commit. */
export async function reopenCommit(parts: Parts, tx: Db, ids: readonly string[]): Promise<void> {
  await markCommitted(tx, ids, null);
  await changeStatus(parts, tx, { ids, from: ['completed', 'failed'], to: 'submitted' });
}
