import type { Context } from '../../platform/context/context.ts';
import type { Db } from '../../platform/db/pool.ts';
import type { TransactionKind } from '../../platform/operator/transaction.ts';
import { changeStatus } from '../holdings/participation-status.ts';
import { releaseRevocation } from '../wallets/store.ts';
import { failUncommitted } from './commit-outcome.ts';
import { listRowsOf, type SettlementRow, unassignRefund } from './store.ts';

type Parts = Pick<Context, 'clock' | 'random'>;

/**
 * The reason stored for a failed participation: another transaction used the nonce of its commit, so the commit can no
 * longer be mined.
 */
const COMMIT_DISPLACED = 'commit_displaced';

/**
 * Abandons a transaction that can no longer be mined, because another transaction has used its nonce. The commits,
 * refunds or revocation of the abandoned transaction can then be sent in a new transaction.
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
 * Moves submitted rows back to `pending`, so that they are committed again. If a row's refund was already requested,
 * the row becomes `failed` instead.
 */
async function abandonCommit(parts: Parts, tx: Db, rows: readonly SettlementRow[]): Promise<void> {
  const ids = rows.map(({ id }) => id);
  await changeStatus(parts, tx, { ids, from: ['submitted'], to: 'pending', commitId: null });
  const others = rows.filter(({ status }) => status !== 'submitted').map(({ id }) => id);
  await failUncommitted(parts, tx, others, COMMIT_DISPLACED);
}

/**
 * Detaches rows from their refund transaction, so that the refunds are sent again. A row that was never committed
 * becomes `failed`, because there is nothing to refund.
 */
async function abandonRefund(parts: Parts, tx: Db, rows: readonly SettlementRow[]): Promise<void> {
  const refunds = await unassignRefund(
    tx,
    rows.map(({ id }) => id),
  );
  const uncommitted = refunds.filter(({ committed }) => committed === false).map(({ id }) => id);
  await failUncommitted(parts, tx, uncommitted, COMMIT_DISPLACED);
}
