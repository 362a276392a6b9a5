import { nameRevert } from '../chain/evm/revert.ts';
import { encodeRemit, readFundGeneration } from '../chain/evm/sale-fund.ts';
import { lockEligible } from '../eligibility/commit.ts';
import { RELEASE_BLOCKS } from '../operator/follow.ts';
import { sendCall } from '../operator/sender.ts';
import { changeStatus } from '../participations/status.ts';
import { freezeSanctioned } from '../screening/freeze.ts';
import { estimateGas, withGasMargin } from './estimate.ts';
import { keepUnrefunded } from './fund-ids.ts';
import { postponeIfFundBlocked } from './postpone.ts';
import { screenRows, unlessEligibilityChanged } from './screen.ts';
import { assignRefund, listToRemit, type SettlementRow } from './store.ts';
import type { SettlementWorker } from './worker.ts';

const MAX_REFUND_ROWS = 50;

/** Sends the oldest refunds of one fund, option and token. Returns how many rows changed, or 0 if none is due. */
export async function remitNext(worker: SettlementWorker): Promise<number> {
  const { ctx, account, state } = worker;
  // Depths count from the head that this round has checked: a later reorganisation may have replaced a commit.
  if (state.head === null) return 0;
  const depths = {
    committedBelow: state.head.number + 2n - BigInt(account.chain.facts.refundDepth),
    releasedBelow: state.head.number - RELEASE_BLOCKS,
  };
  const listed = await listToRemit(ctx.db, account.chain.name, depths, MAX_REFUND_ROWS);
  if (listed.length === 0) return 0;
  const rows = await screenRows(worker, 'refund', await freezeSanctioned(ctx, listed));
  const [first] = rows;
  if (first === undefined) return listed.length;
  return postponeIfFundBlocked(worker, rows, () =>
    unlessEligibilityChanged(rows.length, () => sendBatchOrFirst(worker, rows, first)),
  );
}

/** Sends all refunds in one transaction or, if that would revert, only the first, which then fails alone. */
async function sendBatchOrFirst(
  worker: SettlementWorker,
  rows: SettlementRow[],
  first: SettlementRow,
): Promise<number> {
  const { ctx } = worker;
  if (rows.length > 1 && (await sendRemit(worker, rows)) === null) return rows.length;
  const reason = await sendRemit(worker, [first]);
  if (reason !== null && (await keepUnrefunded(worker, [first])).length === 0) return 1;
  if (reason !== null)
    await ctx.db.transaction().execute((tx) =>
      changeStatus(ctx, tx, {
        ids: [first.id],
        from: ['remit_submitted'],
        to: 'remit_failed',
        reason,
      }),
    );
  return 1;
}

/** Returns null if the transaction was sent, or why it would revert. */
async function sendRemit(
  { ctx, account, lease }: SettlementWorker,
  rows: SettlementRow[],
): Promise<string | null> {
  const [first] = rows;
  if (first === undefined) return null;
  const data = encodeRemit(rows, await readFundGeneration(account.chain, first.fund));
  const estimate = await estimateGas(account, first.fund, data, 'remit');
  if ('revert' in estimate) return nameRevert(estimate.revert);
  const call = { kind: 'remit' as const, target: first.fund, data, gas: withGasMargin(estimate.gas) };
  await sendCall(account, lease(), call, async (tx, id) => {
    await lockEligible(ctx, tx, 'refund', rows);
    const ids = rows.map((row) => row.id);
    if ((await assignRefund(tx, id, ids)) !== rows.length)
      throw new Error('the status of a refund changed concurrently');
  });
  return null;
}
