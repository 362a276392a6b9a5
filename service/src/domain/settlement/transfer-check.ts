import type { Hex } from 'viem';
import { readTransfers } from '../../platform/chain/evm/erc20.ts';
import type { Receipt } from '../../platform/chain/evm/node-reads.ts';
import type { Context } from '../../platform/context/context.ts';
import type { Db } from '../../platform/db/pool.ts';
import { changeStatus } from '../holdings/participation-status.ts';
import type { Alerts } from './alerts.ts';
import type { EvmRow } from './evm-parts.ts';

/** How long the alert about a difference stays active. The log and the row record the difference permanently. */
const ALERT_SECONDS = 3_600;

/**
 * Compares, for each row, the amount that the token transferred with the amount that the fund committed. These amounts
 * can differ if the token charges a fee: third-party funds still credit the requested amount, and then owe more than
 * they hold. If the amounts differ, completes the row with a reason that gives both amounts, and raises an alert.
 */
export async function noteDifferences(
  { ctx, alerts }: { ctx: Pick<Context, 'clock' | 'random' | 'log'>; alerts: Alerts },
  tx: Db,
  fund: Hex,
  { logs, transactionHash }: Receipt,
  committed: readonly EvmRow[],
): Promise<void> {
  const transfers = readTransfers(fund, logs, committed);
  for (const [i, { id, amount, token }] of committed.entries()) {
    const moved = transfers[i] ?? 0n;
    if (moved === amount) continue;
    const reason = `transfer_differs: ${moved} instead of ${amount}`;
    await changeStatus(ctx, tx, { ids: [id], from: ['submitted'], to: 'completed', reason });
    const fields = { participation_id: id, token, transaction_hash: transactionHash };
    ctx.log.error(fields, `the token moved ${moved}, but the fund committed ${amount}`);
    alerts.raise(
      'transfer_differs',
      `the token ${token} moved ${moved}, but the fund ${fund} committed ${amount}`,
      ALERT_SECONDS,
    );
  }
}
