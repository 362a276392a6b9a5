import type { Context } from '../context.ts';
import type { Db } from '../db/pool.ts';
import type { OperatorAccount } from '../operator/account.ts';
import { adoptChainNonce } from '../operator/adopt.ts';
import { changeStatus } from '../participations/status.ts';
import { wakeSettlement } from '../participations/wake.ts';
import { releaseRevocation } from '../wallets/revocation.ts';
import { failUncommitted } from './commit-outcome.ts';
import { listRowsOf, type SettlementRow, unassignRefund } from './store.ts';

type Parts = Pick<Context, 'clock' | 'random'>;

/** The stored reason of a row whose commit lost its nonce to a foreign transaction. */
const COMMIT_DISPLACED = 'commit_displaced';

/**
 * Resumes settlement after the operator's key was used elsewhere. An operator must first make sure that the foreign
 * transactions committed nothing that is still to be committed here. Returns the next nonce.
 */
export async function adoptNonce(parts: Parts, account: OperatorAccount): Promise<bigint> {
  const nextNonce = await adoptChainNonce(account, async (tx, { id, kind }) => {
    if (kind === 'fill') return;
    if (kind === 'revoke') return releaseRevocation(tx, id);
    const rows = await listRowsOf(tx, kind, id);
    await (kind === 'commit' ? abandonCommit : abandonRefund)(parts, tx, rows);
  });
  await wakeSettlement(account.db, account.chain.name);
  return nextNonce;
}

/** Returns submitted rows to `pending`. Rows that were to be refunded already are not committed again. */
async function abandonCommit(parts: Parts, tx: Db, rows: readonly SettlementRow[]): Promise<void> {
  const ids = rows.map(({ id }) => id);
  await changeStatus(parts, tx, { ids, from: ['submitted'], to: 'pending', commitId: null });
  const others = rows.filter(({ status }) => status !== 'submitted').map(({ id }) => id);
  await failUncommitted(parts, tx, others, COMMIT_DISPLACED);
}

async function abandonRefund(parts: Parts, tx: Db, rows: readonly SettlementRow[]): Promise<void> {
  const refunds = await unassignRefund(
    tx,
    rows.map(({ id }) => id),
  );
  const uncommitted = refunds.filter(({ committed }) => committed === false).map(({ id }) => id);
  await failUncommitted(parts, tx, uncommitted, COMMIT_DISPLACED);
}
