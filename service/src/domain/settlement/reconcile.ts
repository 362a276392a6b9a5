import { newId } from '../../kernel/ids.ts';
import type { Context } from '../../platform/context/context.ts';
import type { Db } from '../../platform/db/pool.ts';
import { adoptMined } from '../../platform/operator/adopt-mined.ts';
import { changeStatus } from '../holdings/participation-status.ts';
import { wakeSettlement } from '../holdings/wake.ts';
import { abandonTransaction } from './abandon.ts';
import { pauseOffers } from './pause.ts';
import type { LostTransaction, ReconcilePlan } from './reconcile-plan.ts';
import { attachRefund } from './reconcile-store.ts';
import { markCommitted } from './store.ts';

type Parts = Pick<Context, 'db' | 'log' | 'clock' | 'random'>;

/** Thrown if participations have changed since the plan was made. No transaction was adopted. */
export class PlanOutdated extends Error {
  constructor() {
    super('participations have changed since the plan was made; run the command again');
    this.name = 'PlanOutdated';
  }
}

/**
 * Applies a plan. Pauses the offers for which the chain and the database differ. Then adopts all lost transactions, or
 * none.
 */
export async function applyReconcile(parts: Parts, plan: ReconcilePlan): Promise<void> {
  for (const { offerIds, message } of plan.differences) await pauseOffers(parts, offerIds, message);
  if (plan.lost.length === 0) return;
  await parts.db.transaction().execute(async (tx) => {
    for (const lost of plan.lost) await adoptLost(parts, tx, plan.chain, lost);
    await wakeSettlement(tx, plan.chain);
  });
}

async function adoptLost(parts: Parts, tx: Db, chain: string, lost: LostTransaction): Promise<void> {
  const { kind, rowIds: ids } = lost;
  const id = newId(parts.clock, parts.random);
  const displaced = await adoptMined(tx, { ...lost, id, chain });
  if (displaced !== null) await abandonTransaction(parts, tx, displaced);
  let changed: number;
  if (kind === 'commit') {
    await markCommitted(tx, ids, true);
    const from = ['prepared', 'pending', 'failed'] as const;
    changed = await changeStatus(parts, tx, { ids, from, to: 'completed', commitId: id });
  } else {
    await attachRefund(tx, id, ids);
    const from = ['completed', 'remit_submitted', 'remit_failed'] as const;
    changed = await changeStatus(parts, tx, { ids, from, to: 'remitted' });
  }
  if (changed !== ids.length) throw new PlanOutdated();
}
