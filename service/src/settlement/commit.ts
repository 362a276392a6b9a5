import type { Hex } from 'viem';
import { describeRevert } from '../chain/evm/revert.ts';
import { encodeCommit, readFundGeneration } from '../chain/evm/sale-fund.ts';
import { lockEligible } from '../eligibility/commit.ts';
import { toTimestamp } from '../http/wire.ts';
import { sendCall } from '../operator/sender.ts';
import type { OperatorCall } from '../operator/transaction.ts';
import { inspectReceipts } from '../participations/approval.ts';
import { changeStatus } from '../participations/status.ts';
import { freezeSanctioned } from '../screening/freeze.ts';
import { keepFunded } from './check-funds.ts';
import { estimateGas, withGasMargin } from './estimate.ts';
import { keepUncommitted } from './fund-ids.ts';
import { postpone, postponeIfFundBlocked } from './postpone.ts';
import { screenRows, unlessEligibilityChanged } from './screen.ts';
import { listExpired, listPending, type SettlementRow } from './store.ts';
import type { SettlementWorker } from './worker.ts';

/** A row that writes only new storage costs about 90,000 gas. A fund may keep 400,000 in reserve for the current row. */
const GAS_PER_ROW = 200_000n;
const BATCH_BASE_GAS = 500_000n;
const REVERTING_ROW_DELAY_SECONDS = 60;
const MAX_EXPIRED_ROWS = 100;
const MICROS_PER_HOUR = 3_600_000_000;

/** Rows per transaction. Keeps a batch well below the gas limits of simulations and blocks. */
export const MAX_COMMIT_ROWS = 36;

/** Commits the oldest pending rows of one fund. Returns how many rows changed, or 0 if there is nothing to do. */
export async function commitNext(worker: SettlementWorker): Promise<number> {
  const { ctx, account } = worker;
  const expired = await expirePending(worker);
  if (expired > 0) return expired;
  const listed = await listPending(ctx.db, account.chain.name, MAX_COMMIT_ROWS);
  const { approved, height } = await returnUnapproved(worker, await freezeSanctioned(ctx, listed));
  const rows = await screenRows(worker, 'commit', await keepFunded(worker, approved, height));
  if (rows.length === 0) return listed.length;
  return postponeIfFundBlocked(worker, rows, () =>
    unlessEligibilityChanged(rows.length, () => sendCommit(worker, rows)),
  );
}

/** Fails rows that have waited too long to be what the user still wants. Returns how many. */
async function expirePending({ ctx, account }: SettlementWorker): Promise<number> {
  const createdBefore = toTimestamp(ctx.clock.micros() - ctx.config.pendingTtlHours * MICROS_PER_HOUR);
  const ids = await listExpired(ctx.db, account.chain.name, createdBefore, MAX_EXPIRED_ROWS);
  if (ids.length === 0) return 0;
  return ctx.db
    .transaction()
    .execute((tx) => changeStatus(ctx, tx, { ids, from: ['pending'], to: 'failed', reason: 'expired' }));
}

async function sendCommit(worker: SettlementWorker, rows: SettlementRow[]): Promise<number> {
  const { ctx, account, lease } = worker;
  const plan = await planCommit(worker, await keepUncommitted(worker, rows));
  if (plan === null) return rows.length;
  await sendCall(account, lease(), plan.call, async (tx, id) => {
    await lockEligible(ctx, tx, 'commit', plan.rows);
    const moved = await changeStatus(ctx, tx, {
      ids: plan.rows.map((row) => row.id),
      from: ['pending'],
      to: 'submitted',
      commitId: id,
    });
    if (moved !== plan.rows.length) throw new Error('the status of a pending row changed concurrently');
  });
  return plan.rows.length;
}

/** Returns rows to `prepared` if their approval left the chain. Returns the others, and the block they were judged at. */
async function returnUnapproved(
  { ctx, account }: SettlementWorker,
  rows: SettlementRow[],
): Promise<{ approved: SettlementRow[]; height: bigint }> {
  if (rows.length === 0) return { approved: rows, height: 0n };
  const { findings, height } = await inspectReceipts(account.chain, rows);
  const isUndone = (i: number) => findings[i]?.state === 'unmined' || findings[i]?.state === 'unconfirmed';
  const undone = rows.filter((_, i) => isUndone(i)).map(({ id }) => id);
  if (undone.length > 0) {
    const preparedAt = toTimestamp(ctx.clock.micros());
    await ctx.db
      .transaction()
      .execute((tx) => changeStatus(ctx, tx, { ids: undone, from: ['pending'], to: 'prepared', preparedAt }));
  }
  return { approved: rows.filter((_, i) => !isUndone(i)), height };
}

type CommitPlan = { call: OperatorCall; rows: SettlementRow[] };

/**
 * Plans the largest batch of these rows that simulates successfully. Rows fail individually within a batch, so it reverts
 * only for a reason that concerns all of them. A row that reverts on its own is postponed; returns null for it.
 */
async function planCommit(worker: SettlementWorker, rows: SettlementRow[]): Promise<CommitPlan | null> {
  const [first] = rows;
  if (first === undefined) return null;
  const generation = await readFundGeneration(worker.account.chain, first.fund);
  if (rows.length === 1) {
    const data = encodeCommit(rows, 'single', generation);
    const single = await simulateCommit(worker, first.fund, data, null);
    if ('call' in single) return { call: single.call, rows };
  }
  const gasLimit = BATCH_BASE_GAS + GAS_PER_ROW * BigInt(rows.length);
  const batch = await simulateCommit(worker, first.fund, encodeCommit(rows, 'batch', generation), gasLimit);
  if ('call' in batch) return { call: batch.call, rows };
  if (rows.length > 1) return planCommit(worker, rows.slice(0, Math.ceil(rows.length / 2)));
  await postpone(worker, rows, REVERTING_ROW_DELAY_SECONDS, {
    reason: 'reverts',
    message: `a commit to ${first.fund} would revert: ${batch.failure}`,
  });
  return null;
}

/** Uses the estimate plus a margin if `gasLimit` is null. Throws `Blocked` if the fund rejects every call. */
async function simulateCommit(
  { account }: SettlementWorker,
  target: Hex,
  data: Hex,
  gasLimit: bigint | null,
): Promise<{ call: OperatorCall } | { failure: string }> {
  const estimate = await estimateGas(account, target, data, 'commit');
  if ('revert' in estimate) return { failure: describeRevert(estimate.revert) };
  if (gasLimit !== null && estimate.gas > gasLimit) return { failure: 'it exceeds the gas limit of a batch' };
  return { call: { kind: 'commit', target, data, gas: gasLimit ?? withGasMargin(estimate.gas) } };
}
