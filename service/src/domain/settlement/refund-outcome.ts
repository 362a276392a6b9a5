import type { Context } from '../../platform/context/context.ts';
import type { Db } from '../../platform/db/pool.ts';
import type { PrerequisiteState } from '../../platform/operator/rebroadcast.ts';
import { changeStatus } from '../holdings/participation-status.ts';
import { COMMIT_FAILED, type RowOutcome } from './commit-outcome.ts';
import { listCommittedFlags, listUncommitted } from './store.ts';

/**
 * Checks, for each participation in a refund transaction, whether its commit is on the chain. Returns `met` if all
 * commits are on the chain, `gone` if one is not, and otherwise `unknown`, because at least one commit is still
 * undecided. If a commit is not on the chain, the fund would pay its refund out of the user's other participations.
 */
export async function readRefundPrerequisite(db: Db, transactionId: string): Promise<PrerequisiteState> {
  const flags = await listCommittedFlags(db, transactionId);
  if (flags.includes(false)) return 'gone';
  return flags.includes(null) ? 'unknown' : 'met';
}

/**
 * Handles the cancellation of a refund transaction. If one of the commits that it refunds is no longer on the chain,
 * marks the refunds as failed. Otherwise, a hold, a sanction or an operator caused the cancellation, and the refunds
 * keep their status. They become due again once the cancellation can no longer be undone and nothing else blocks them.
 */
export async function settleCancelledRefund(
  parts: Pick<Context, 'clock' | 'random' | 'log'>,
  tx: Db,
  rows: readonly { id: string }[],
): Promise<void> {
  const failed = rows.map(({ id }) => id);
  if ((await listUncommitted(tx, failed)).length > 0)
    await settleRefund(parts, tx, { succeeded: [], failed, reason: null });
}

export async function settleRefund(
  parts: Pick<Context, 'clock' | 'random' | 'log'>,
  tx: Db,
  { succeeded, failed, reason }: RowOutcome,
): Promise<void> {
  const uncommitted = new Set(await listUncommitted(tx, [...succeeded, ...failed]));
  const unbacked = succeeded.filter((id) => uncommitted.has(id));
  if (unbacked.length > 0)
    parts.log.error(
      { participation_ids: unbacked },
      'refunds were paid from other participations of the same users, because a reorganization undid the commits of the refunded participations',
    );
  // The money has moved, so the row becomes `remitted` from any status.
  await changeStatus(parts, tx, {
    ids: succeeded,
    from: ['submitted', 'completed', 'failed', 'remit_submitted', 'remit_failed'],
    to: 'remitted',
  });
  await changeStatus(parts, tx, {
    ids: failed.filter((id) => !uncommitted.has(id)),
    from: ['remit_submitted'],
    to: 'remit_failed',
    reason: reason ?? 'remit_not_seen',
  });
  await changeStatus(parts, tx, {
    ids: failed.filter((id) => uncommitted.has(id)),
    from: ['remit_submitted'],
    to: 'failed',
    reason: COMMIT_FAILED,
  });
}
