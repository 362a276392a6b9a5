import type { Context } from '../context.ts';
import { type Finding, inspectApprovals } from '../participations/approval.ts';
import { changeStatus } from '../participations/status.ts';
import type { Worker } from './round.ts';
import { takePrepared, type WorkRow } from './store.ts';

/** Milliseconds that an approval has to be mined in. */
export const APPROVAL_LIFE = 30 * 60_000;

const BATCH = 50;
const AGAIN_AFTER = 0.5;

/** Looks at prepared rows that are due. Answers how many there were, and how many moved on. */
export async function checkPrepared({
  ctx,
  operator: { chain },
}: Worker): Promise<{ seen: number; moved: number }> {
  const rows = await takePrepared(ctx.db, chain.name, BATCH, Math.min(AGAIN_AFTER, chain.facts.blockTime));
  if (rows.length === 0) return { seen: 0, moved: 0 };
  const findings = await inspectApprovals(chain, rows);
  const moved = await Promise.all(
    rows.map(async (row, i) => {
      const finding = findings[i];
      return finding !== undefined && judge(ctx, row, finding);
    }),
  );
  return { seen: rows.length, moved: moved.filter(Boolean).length };
}

/** Whether it moved on. */
async function judge(ctx: Context, row: WorkRow, finding: Finding): Promise<boolean> {
  if (finding.state === 'good') return move(ctx, row, 'pending', null);
  if (finding.state === 'wrong')
    return finding.isConfirmed && move(ctx, row, 'failed', `approval_invalid: ${finding.reason}`);
  if (finding.state === 'short') return move(ctx, row, 'failed', finding.shortage.code);
  if (finding.state === 'unmined' && ctx.clock.now() - Date.parse(row.preparedAt) > APPROVAL_LIFE)
    return move(ctx, row, 'failed', 'approval_not_mined');
  return false;
}

async function move(
  ctx: Context,
  { id }: WorkRow,
  to: 'pending' | 'failed',
  reason: string | null,
): Promise<boolean> {
  return ctx.db.transaction().execute(async (tx) => {
    const changed = await changeStatus(ctx, tx, { ids: [id], from: ['prepared'], to, reason });
    if (changed === 1 && to === 'failed')
      await tx.updateTable('participations').set({ holds_approval: false }).where('id', '=', id).execute();
    return changed === 1;
  });
}
