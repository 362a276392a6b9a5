import type { Context } from '../context.ts';
import { type Finding, findShortage, inspectReceipts } from './approval.ts';
import { takePrepared, type WorkRow } from './settlement-store.ts';
import { changeStatus } from './store.ts';
import type { Worker } from './worker.ts';

/** Milliseconds that an approval has to be mined in. */
export const APPROVAL_LIFE = 30 * 60_000;

const BATCH = 100;
const AGAIN_AFTER = 0.5;

/** Looks at prepared rows that are due. Answers how many it looked at. */
export async function checkPrepared({ ctx, operator: { chain } }: Worker): Promise<number> {
  const rows = await takePrepared(ctx.db, chain.name, BATCH, Math.min(AGAIN_AFTER, chain.facts.blockTime));
  if (rows.length === 0) return 0;
  const findings = await inspectReceipts(chain, rows);
  await Promise.all(
    rows.map(async (row, i) => {
      const finding = findings[i];
      if (finding === undefined) return;
      const shortage = finding.state === 'good' ? await findShortage(chain, row) : null;
      await judge(ctx, row, shortage === null ? finding : { state: 'short', shortage });
    }),
  );
  return rows.length;
}

async function judge(ctx: Context, row: WorkRow, finding: Finding): Promise<void> {
  if (finding.state === 'good') return move(ctx, row, 'pending', null);
  if (finding.state === 'wrong') return move(ctx, row, 'failed', `approval_invalid: ${finding.reason}`);
  if (finding.state === 'short') return move(ctx, row, 'failed', finding.shortage.code);
  if (finding.state === 'unmined' && ctx.clock.now() - Date.parse(row.preparedAt) > APPROVAL_LIFE)
    return move(ctx, row, 'failed', 'approval_not_mined');
}

async function move(
  ctx: Context,
  { id }: WorkRow,
  to: 'pending' | 'failed',
  reason: string | null,
): Promise<void> {
  await ctx.db.transaction().execute(async (tx) => {
    const changed = await changeStatus(ctx, tx, { ids: [id], from: ['prepared'], to, reason });
    if (changed === 1 && to === 'failed')
      await tx.updateTable('participations').set({ holds_approval: false }).where('id', '=', id).execute();
  });
}
