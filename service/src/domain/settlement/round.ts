import type { SendingRole } from '../../kernel/config/role.ts';
import { findApiError } from '../../platform/chain/rpc/failures.ts';
import { Blocked } from '../../platform/operator/blocked.ts';
import { type Lease, LeaseLost, takeLease } from '../../platform/operator/lease.ts';
import { recordGoodRound } from '../../platform/operator/lease-store.ts';
import { upstreamFailureOf } from '../../platform/outbound/failure.ts';
import { countUnsettled } from './backlog-store.ts';
import { commitNext } from './commit.ts';
import { resumeSkippedFunds } from './postpone.ts';
import { checkPrepared } from './prepared.ts';
import { remitNext } from './refund.ts';
import type { SettlementWorker } from './worker.ts';

/**
 * The outcome of a round. `busy`: more work is ready now. `watching`: waiting for the chain. `idle`: nothing to do.
 * `away`: another node holds the lease.
 */
export type Round = 'busy' | 'watching' | 'idle' | 'away';

const MAX_STEPS = 50;

/**
 * Runs one round: follows the open transactions, checks the prepared participations, and sends the transactions that
 * are due. Throws errors from which a later round may recover.
 */
export async function runRound(worker: SettlementWorker): Promise<Round> {
  const { driver } = worker;
  resumeSkippedFunds(worker.skippedFunds);
  let open = 0;
  let moved = 0;
  let isWaiting = false;
  const isHolder = await withAlerts(worker, async (lease) => {
    // Follows transactions before checking rows, to detect whether the key was used elsewhere. If so, a row without
    // an allowance must not be set to `failed`, because a foreign transaction may have committed the row.
    const progress = await unlessBlocked(driver.follow(lease));
    if (driver.roles.includes('commit')) {
      const prepared = await checkPrepared(worker);
      moved += prepared.moved;
      isWaiting = prepared.waiting;
    }
    if (progress instanceof Blocked) throw progress;
    open = progress.unmined + progress.confirming;
    const steps = Math.floor((driver.maxUnmined - progress.unmined) / driver.transactionsPerStep);
    moved += await takeSteps(
      worker,
      driver.roles.flatMap((role) => STEPS[role]),
      steps,
    );
  });
  if (!isHolder) return 'away';
  if (moved > 0) return 'busy';
  return open > 0 || isWaiting ? 'watching' : 'idle';
}

/** Runs one round for a replaced key: follows its open transactions, but sends nothing new with that key. */
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
 * Like `followRetired`, but for a key that this process cannot sign with. Then releases the lease, because another node
 * may have the key, and only that node can settle with it.
 */
export async function followWithoutKey(worker: SettlementWorker): Promise<Round> {
  const round = await followRetired(worker);
  await worker.release();
  return round;
}

/**
 * Takes the lease, runs `work`, and publishes the alerts that were raised. Returns false if another node has the lease
 * or takes it over. A `Blocked` error only becomes an alert. Any other error becomes an alert and is rethrown.
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
    await recordGoodRound(ctx.db, lease);
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

function unlessBlocked<T>(work: Promise<T>): Promise<T | Blocked> {
  return work.catch((error: unknown) => {
    if (error instanceof Blocked) return error;
    throw error;
  });
}

type Step = (worker: SettlementWorker) => Promise<number>;

const STEPS: Readonly<Record<SendingRole, readonly Step[]>> = {
  commit: [revokeNext, commitNext],
  refund: [remitNext],
};

/**
 * Runs the steps in turn, so that no kind of step starves another. Stops when the budget is used up or no step has
 * anything left to do. A blocked step does not stop the others. Returns how many rows and revocations the steps
 * have handled.
 */
async function takeSteps(worker: SettlementWorker, steps: readonly Step[], budget: number): Promise<number> {
  const waiting = new Set(steps);
  let total = 0;
  let left = Math.min(budget, MAX_STEPS);
  while (left > 0 && waiting.size > 0) {
    for (const step of [...waiting].slice(0, left)) {
      const moved = await unlessBlocked(step(worker));
      if (moved instanceof Blocked) worker.alerts.raise(moved.reason, moved.message);
      if (moved instanceof Blocked || moved === 0) waiting.delete(step);
      else {
        total += moved;
        left--;
      }
    }
  }
  return total;
}

/** Describes an error for operators. For a failed call, names the external service and says what went wrong. */
function messageOf(error: unknown): string {
  const failed = findApiError(error);
  const failure = upstreamFailureOf(failed);
  if (failed !== undefined && failure !== undefined) return `${failed.details.upstream}: ${failure.message}`;
  return error instanceof Error ? error.message : String(error);
}
