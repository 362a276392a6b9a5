import type { Context } from '../context.ts';
import type { Db } from '../db/pool.ts';
import type { TransactionKind } from '../operator/transaction.ts';
import { changeStatus } from '../participations/status.ts';
import { releaseRevocation } from '../wallets/revocation.ts';
import { failUncommitted } from './commit-outcome.ts';
import { listRowsOf, type SettlementRow, unassignRefund } from './store.ts';

type Parts = Pick<Context, 'clock' | 'random'>;

/**
 * The reason stored for a participation whose commit can no longer be mined, because another transaction used its
 * nonce.
 */
const COMMIT_DISPLACED = 'commit_displaced';

/**
 * Abandons a transaction whose nonce another transaction has used. New transactions can then do the work of the
 * abandoned transaction.
 */
export async function abandonTransaction(
  parts: Parts,
  tx: Db,
  { id, kind }: { id: string; kind: TransactionKind },
): Promise<void> {
  if (kind === 'fill') return;
  if (kind === 'revoke') return releaseRevocation(tx, id);
  const rows = await listRowsOf(tx, kind, id);
  await (kind === 'commit' ? abandonCommit : abandonRefund)(parts, tx, rows);
}

/**
 * Moves submitted rows back to `pending`. Fails rows whose refund was already requested, so that they are not committed
 * again.
 */
async function abandonCommit(parts: Parts, tx: Db, rows: readonly SettlementRow[]): Promise<void> {
  const ids = rows.map(({ id }) => id);
  await changeStatus(parts, tx, { ids, from: ['submitted'], to: 'pending', commitId: null });
  const others = rows.filter(({ status }) => status !== 'submitted').map(({ id }) => id);
  await failUncommitted(parts, tx, others, COMMIT_DISPLACED);
}

/** Detaches refunds from their transaction, so that they are resent. Fails refunds whose commit is not on the chain. */
async function abandonRefund(parts: Parts, tx: Db, rows: readonly SettlementRow[]): Promise<void> {
  const refunds = await unassignRefund(
    tx,
    rows.map(({ id }) => id),
  );
  const uncommitted = refunds.filter(({ committed }) => committed === false).map(({ id }) => id);
  await failUncommitted(parts, tx, uncommitted, COMMIT_DISPLACED);
}
