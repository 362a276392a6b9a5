import { Blocked } from '../operator/blocked.ts';
import { type Lease, LeaseLost, takeLease } from '../operator/lease.ts';
import { countUnsettled } from './backlog-store.ts';
import { commitNext } from './commit.ts';
import { checkPrepared } from './prepared.ts';
import { remitNext } from './refund.ts';
import type { SettlementWorker } from './worker.ts';

/** `busy`: more work is ready now. `watching`: waiting for the chain. `away`: another node holds the lease. */
export type Round = 'busy' | 'watching' | 'idle' | 'away';

const MAX_STEPS = 50;

/** Advances everything on the chain by one step. Throws errors that a later round may recover from. */
export async function runRound(worker: SettlementWorker): Promise<Round> {
  const { driver } = worker;
  let open = 0;
  let moved = 0;
  let isWaiting = false;
  const isHolder = await withAlerts(worker, async (lease) => {
    const prepared = await checkPrepared(worker);
    moved += prepared.moved;
    isWaiting = prepared.waiting;
    const progress = await driver.follow(lease);
    open = progress.unmined + progress.confirming;
    const steps = Math.floor((driver.maxUnmined - progress.unmined) / driver.transactionsPerStep);
    for (const step of [revokeNext, commitNext, remitNext]) moved += await repeatStep(worker, step, steps);
  });
  if (!isHolder) return 'away';
  if (moved > 0) return 'busy';
  return open > 0 || isWaiting ? 'watching' : 'idle';
}

/** Advances the transactions of a replaced key by one step, and sends nothing new from it. */
export async function followRetired(worker: SettlementWorker): Promise<Round> {
  let open = 0;
  const isHolder = await withAlerts(worker, async (lease) => {
    const { unmined, confirming } = await worker.driver.follow(lease);
    open = unmined + confirming;
  });
  if (!isHolder) return 'away';
  return open > 0 ? 'watching' : 'idle';
}

/**
 * Runs `work` under the lease and publishes the alerts that it raises. Returns false if another node holds the lease.
 * `Blocked` becomes an alert; any other error does too, and is rethrown.
 */
async function withAlerts(worker: SettlementWorker, work: (lease: Lease) => Promise<void>): Promise<boolean> {
  const { ctx, driver } = worker;
  const lease = await takeLease(ctx.db, { ...driver.key, node: ctx.node });
  worker.setLease(lease);
  if (lease === null) {
    driver.reset();
    worker.alerts.clear();
    return false;
  }
  try {
    await work(lease);
  } catch (error) {
    if (error instanceof LeaseLost) return false;
    if (!(error instanceof Blocked)) {
      worker.alerts.raise('unreachable', messageOf(error));
      throw error;
    }
    worker.alerts.raise(error.reason, error.message);
  } finally {
    await worker.alerts.report(() => countUnsettled(ctx.db, driver.key.chain).catch(() => 0));
  }
  return true;
}

function revokeNext({ driver }: SettlementWorker): Promise<number> {
  return driver.revokeNext();
}

/** Repeats a step until it has nothing left to do. A blocked step does not stop the others. */
async function repeatStep(
  worker: SettlementWorker,
  step: (worker: SettlementWorker) => Promise<number>,
  limit: number,
): Promise<number> {
  let total = 0;
  try {
    for (let i = 0; i < Math.min(limit, MAX_STEPS); i++) {
      const moved = await step(worker);
      if (moved === 0) break;
      total += moved;
    }
  } catch (error) {
    if (!(error instanceof Blocked)) throw error;
    worker.alerts.raise(error.reason, error.message);
  }
  return total;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
