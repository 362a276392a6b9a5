import { nameRevert } from '../../platform/chain/evm/revert.ts';
import { encodeRemit, readFundGeneration } from '../../platform/chain/evm/sale-fund.ts';
import { sendCall } from '../../platform/operator/sender.ts';
import { keepOnChain } from './commit-blocks.ts';
import { estimateGas, withGasMargin } from './estimate.ts';
import { type EvmParts, type EvmRow, toEvmRows } from './evm-parts.ts';
import { keepUnrefunded } from './fund-ids.ts';
import { failRefund, submitRefunds } from './refund.ts';
import { postponeRefused } from './refused-transfer.ts';
import type { SettlementRow } from './store.ts';

/**
 * Sends all refunds in one transaction. If this transaction would revert, sends only the first refund. If the first
 * refund would also revert on its own, marks only that refund as failed, unless the fund has already paid it. If the
 * token refuses every transfer, postpones all refunds.
 */
export async function sendBatchOrFirst(worker: EvmParts, listed: readonly SettlementRow[]): Promise<number> {
  const rows = await keepOnChain(worker, toEvmRows(listed));
  const [first] = rows;
  if (first === undefined) return listed.length;
  if (rows.length > 1 && (await sendRemit(worker, rows)) === null) return rows.length;
  const reason = await sendRemit(worker, [first]);
  if (reason === null || (await keepUnrefunded(worker, [first])).length === 0) return 1;
  if (await postponeRefused(worker, 'refund', rows)) return rows.length;
  await failRefund(worker.ctx, first.id, reason);
  return 1;
}

/**
 * Sends the refunds in one transaction. Returns null if the transaction was sent, or the reason why it would revert.
 */
async function sendRemit({ ctx, account, lease }: EvmParts, rows: EvmRow[]): Promise<string | null> {
  const [first] = rows;
  if (first === undefined) return null;
  const data = encodeRemit(rows, await readFundGeneration(account.chain, first.fund));
  const estimate = await estimateGas(account, first.fund, data, 'remit');
  if ('revert' in estimate) return nameRevert(estimate.revert);
  const call = { kind: 'remit' as const, target: first.fund, data, gas: withGasMargin(estimate.gas) };
  await sendCall(account, lease(), call, (tx, id) => submitRefunds(ctx, tx, id, rows));
  return null;
}
