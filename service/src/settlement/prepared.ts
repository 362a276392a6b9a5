import type { Context } from '../context.ts';
import { type Finding, inspectApprovals } from '../participations/approval.ts';
import { changeStatus } from '../participations/status.ts';
import { freeApproval, type SettlementRow, takePrepared } from './store.ts';
import type { SettlementWorker } from './worker.ts';

/** How long an approval may stay unmined before its participation fails. */
export const APPROVAL_TTL_MS = 30 * 60_000;

const BATCH_ROWS = 50;
const MAX_CHECK_INTERVAL_SECONDS = 0.5;

/** Checks the approvals of prepared rows that are due. Returns how many rows were checked and how many changed. */
export async function checkPrepared({
  ctx,
  account: { chain },
}: SettlementWorker): Promise<{ checked: number; moved: number }> {
  const intervalSeconds = Math.min(MAX_CHECK_INTERVAL_SECONDS, chain.facts.blockTimeSeconds);
  const rows = await takePrepared(ctx.db, chain.name, BATCH_ROWS, intervalSeconds);
  if (rows.length === 0) return { checked: 0, moved: 0 };
  const findings = await inspectApprovals(chain, rows);
  const moved = await Promise.all(
    rows.map(async (row, i) => {
      const finding = findings[i];
      return finding !== undefined && applyFinding(ctx, row, finding);
    }),
  );
  return { checked: rows.length, moved: moved.filter(Boolean).length };
}

/** Returns whether the status changed. */
async function applyFinding(ctx: Context, row: SettlementRow, finding: Finding): Promise<boolean> {
  if (finding.state === 'good') return move(ctx, row, 'pending', null);
  if (finding.state === 'wrong')
    return finding.isConfirmed && move(ctx, row, 'failed', `approval_invalid: ${finding.reason}`);
  if (finding.state === 'short') return move(ctx, row, 'failed', finding.shortage.code);
  if (finding.state === 'unmined' && ctx.clock.now() - Date.parse(row.preparedAt) > APPROVAL_TTL_MS)
    return move(ctx, row, 'failed', 'approval_not_mined');
  return false;
}

async function move(
  ctx: Context,
  { id }: SettlementRow,
  to: 'pending' | 'failed',
  reason: string | null,
): Promise<boolean> {
  return ctx.db.transaction().execute(async (tx) => {
    const changed = await changeStatus(ctx, tx, { ids: [id], from: ['prepared'], to, reason });
    if (changed === 1 && to === 'failed') await freeApproval(tx, id);
    return changed === 1;
  });
}
