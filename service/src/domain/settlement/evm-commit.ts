import type { Hex } from 'viem';
import { describeRevert } from '../../platform/chain/evm/revert.ts';
import { encodeCommit, readFundGeneration } from '../../platform/chain/evm/sale-fund.ts';
import { sendCall } from '../../platform/operator/sender.ts';
import type { OperatorCall } from '../../platform/operator/transaction.ts';
import { submitRows } from './commit.ts';
import { batchGas, estimateGas, withGasMargin } from './estimate.ts';
import { type EvmParts, type EvmRow, toEvmRows } from './evm-parts.ts';
import { postpone } from './postpone.ts';
import { failRefused, postponeRefused } from './refused-transfer.ts';
import type { SettlementRow } from './store.ts';

const REVERTING_ROW_DELAY_SECONDS = 60;

/**
 * Commits as many of the rows as one transaction can. Returns how many rows it sent. If it could send none, returns
 * `rows.length`, because the rows still count as handled.
 */
export async function sendCommit(worker: EvmParts, listed: readonly SettlementRow[]): Promise<number> {
  const { ctx, account, lease } = worker;
  const rows = await keepTransferable(worker, toEvmRows(listed));
  const plan = await planCommit(worker, rows);
  if (plan === null) return listed.length;
  await sendCall(account, lease(), plan.call, (tx, id) => submitRows(ctx, tx, id, plan.rows));
  return plan.rows.length;
}

/** Postpones the rows of each token that refuses every transfer, and returns the other rows. */
async function keepTransferable(worker: EvmParts, rows: EvmRow[]): Promise<EvmRow[]> {
  const refused = new Set<Hex>();
  for (const token of new Set(rows.map((row) => row.token))) {
    const own = rows.filter((row) => row.token === token);
    if (await postponeRefused(worker, 'commit', own)) refused.add(token);
  }
  return rows.filter(({ token }) => !refused.has(token));
}

type CommitPlan = { call: OperatorCall; rows: EvmRow[] };

/**
 * Plans one commit for as many of these rows as possible. Simulates a commit of all rows first. If the simulation
 * fails, for example because the batch exceeds its gas limit, tries the first half of the rows, and so on down to a
 * single row.
 *
 * If even the commit of a single row fails, returns null. The row then becomes `failed` if its token refuses its
 * transfer but not those of other rows, and is postponed otherwise. One failing row rarely causes a split, because it normally does not revert its
 * batch.
 */
async function planCommit(worker: EvmParts, rows: EvmRow[]): Promise<CommitPlan | null> {
  const [first] = rows;
  if (first === undefined) return null;
  const generation = await readFundGeneration(worker.account.chain, first.fund);
  if (rows.length === 1) {
    const data = encodeCommit(rows, 'single', generation);
    const single = await simulateCommit(worker, first.fund, data, null);
    if ('call' in single) return { call: single.call, rows };
  }
  const gasLimit = batchGas(rows.length);
  const batch = await simulateCommit(worker, first.fund, encodeCommit(rows, 'batch', generation), gasLimit);
  if ('call' in batch) return { call: batch.call, rows };
  if (rows.length > 1) return planCommit(worker, rows.slice(0, Math.ceil(rows.length / 2)));
  if (await failRefused(worker, first)) return null;
  await postpone(worker, rows, REVERTING_ROW_DELAY_SECONDS, {
    reason: 'reverts',
    message: `a commit to ${first.fund} would revert: ${batch.failure}`,
  });
  // Skips the fund for the rest of the round, because its other rows may revert too.
  worker.skippedFunds.commit.set(first.fund, 0);
  return null;
}

/**
 * Simulates a commit. Returns the call to send, or why the call would fail. If `gasLimit` is null, the gas
 * limit is the estimate plus a margin. Throws `Blocked` if the fund rejects every call.
 */
async function simulateCommit(
  { account }: EvmParts,
  target: Hex,
  data: Hex,
  gasLimit: bigint | null,
): Promise<{ call: OperatorCall } | { failure: string }> {
  const estimate = await estimateGas(account, target, data, 'commit');
  if ('revert' in estimate) return { failure: describeRevert(estimate.revert) };
  if (gasLimit !== null && estimate.gas > gasLimit) return { failure: 'it exceeds the batch gas limit' };
  return { call: { kind: 'commit', target, data, gas: gasLimit ?? withGasMargin(estimate.gas) } };
}
