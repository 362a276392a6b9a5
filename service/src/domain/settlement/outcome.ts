import type { Hex } from 'viem';
import { isAgreed } from '../../platform/chain/agreement.ts';
import type { EvmChain } from '../../platform/chain/evm/client.ts';
import { digestReceipt, readReceipts } from '../../platform/chain/evm/node-reads.ts';
import { nameRevert } from '../../platform/chain/evm/revert.ts';
import { fundBlockedReason, isSingleCommit, matchRows } from '../../platform/chain/evm/sale-fund.ts';
import type { Context } from '../../platform/context/context.ts';
import type { Db } from '../../platform/db/pool.ts';
import type { OperatorAccount } from '../../platform/operator/account.ts';
import type { OutcomeHandlers } from '../../platform/operator/follow.ts';
import { isCancelled } from '../../platform/operator/rebroadcast.ts';
import { changeStatus } from '../holdings/participation-status.ts';
import { finishRevocation } from '../wallets/revocation.ts';
import { releaseRevocation, reopenRevocation } from '../wallets/store.ts';
import { mayEnd } from './agreement.ts';
import type { Alerts } from './alerts.ts';
import { releaseCommit, reopenCommit, settleCommit } from './commit-outcome.ts';
import { toEvmRows } from './evm-parts.ts';
import { areUnknownToFund } from './fund-ids.ts';
import { readRefundPrerequisite, settleCancelledRefund, settleRefund } from './refund-outcome.ts';
import { maySign } from './resign.ts';
import { listRowsOf, type SettlementRow } from './store.ts';
import { noteDifferences } from './transfer-check.ts';

const SUCCESS = { commit: 'Committed', remit: 'Remitted' } as const;

/** Translates the outcome of an operator transaction into status changes for its participations. */
export function createOutcomeHandlers(
  ctx: Context,
  account: OperatorAccount,
  alerts: Alerts,
): OutcomeHandlers {
  const isReleased: OutcomeHandlers['isReleased'] = ({ kind, data, target }, revert) => {
    if (kind !== 'commit') return false;
    if (revert === null) return true;
    if (isCausedByRow(data, revert)) return false;
    const message = `a commit to ${target} reverted: ${nameRevert(revert)}`;
    alerts.raise(fundBlockedReason(revert) ?? 'reverts', message);
    return true;
  };
  return {
    isReleased,
    settle: async (tx, transaction, receipt, revert) => {
      const { id, kind, target } = transaction;
      if (kind === 'fill') return;
      const wasCancelled = isCancelled(transaction, receipt.transactionHash);
      if (kind === 'revoke')
        return revert === null && !wasCancelled ? finishRevocation(ctx, tx, id) : releaseRevocation(tx, id);
      const rows = await listRowsOf(tx, kind, id);
      if ((revert !== null || wasCancelled) && isReleased(transaction, revert))
        return releaseCommit(ctx, tx, rows);
      if (wasCancelled) return settleCancelledRefund(ctx, tx, rows);
      const events =
        revert === null ? matchRows(target, receipt.logs, toEvmRows(rows)) : rows.map(() => null);
      const reason = revert === null ? null : nameRevert(revert);
      const outcome = { ...split(rows, (i) => events[i] === SUCCESS[kind]), reason };
      const committed = toEvmRows(rows).filter((_, i) => events[i] === 'Committed');
      await noteDifferences({ ctx, alerts }, tx, target, receipt, committed);
      await (kind === 'commit' ? settleCommit : settleRefund)(ctx, tx, outcome);
    },
    reopen: async (tx, { id, kind }) => {
      if (kind === 'fill') return;
      if (kind === 'revoke') return reopenRevocation(tx, id);
      const ids = (await listRowsOf(tx, kind, id)).map((row) => row.id);
      await (kind === 'commit' ? reopenCommit : reopenRefund)(ctx, tx, ids);
    },
    prerequisiteState: async ({ id, kind }) =>
      kind === 'remit' ? readRefundPrerequisite(ctx.db, id) : 'met',
    mayResign: (tx, { id, kind }) => maySign(ctx, tx, kind, id),
    isReliable: async (transaction, receipt) => {
      const { id, kind, target } = transaction;
      if (kind === 'fill') return true;
      const views = account.chain.rpc.providers().map((rpc) => ({ ...account.chain, rpc }));
      const judge = async (view: EvmChain) => {
        const [own] = await readReceipts(view, [receipt.transactionHash]);
        return own == null ? 'not mined' : digestReceipt(own);
      };
      const digest = digestReceipt(receipt);
      if (kind === 'revoke') return isAgreed(views, digest, judge);
      // The rows of a cancelled transaction are sent again. If a provider wrongly reported a cancellation, the rows
      // would be paid twice, so two providers must agree.
      if (isCancelled(transaction, receipt.transactionHash) && !(await isAgreed(views, digest, judge)))
        return false;
      const rows = toEvmRows(await listRowsOf(ctx.db, kind, id));
      const events = matchRows(target, receipt.logs, rows);
      const without = rows.filter((_, i) => events[i] !== SUCCESS[kind]);
      if (!(await areUnknownToFund({ ctx, account, alerts }, kind, without))) return false;
      return mayEnd({ ctx, alerts }, views, rows, digest, judge);
    },
  };
}

/**
 * Returns whether a commit reverted because of one of its rows. If not, the commit's rows are retried. A batch never
 * reverts because of one row, because its rows fail individually. A commit of a single row reverts because of that row,
 * unless the fund is blocked or the reason is unknown.
 */
function isCausedByRow(data: Hex, revert: Hex): boolean {
  return isSingleCommit(data) && fundBlockedReason(revert) === null && revert !== '0x';
}

function split(rows: SettlementRow[], succeeded: (index: number) => boolean) {
  const idsWhere = (wanted: boolean) => rows.filter((_, i) => succeeded(i) === wanted).map(({ id }) => id);
  return { succeeded: idsWhere(true), failed: idsWhere(false) };
}

async function reopenRefund(
  ctx: Pick<Context, 'clock' | 'random'>,
  tx: Db,
  ids: readonly string[],
): Promise<void> {
  await changeStatus(ctx, tx, { ids, from: ['remitted', 'remit_failed'], to: 'remit_submitted' });
}
