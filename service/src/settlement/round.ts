import type { Context } from '../context.ts';
import { Blocked } from '../operator/blocked.ts';
import { type Following, followTransactions, type Outcomes, type Pace } from '../operator/follow.ts';
import { type Lease, LeaseLost, takeLease } from '../operator/lease.ts';
import type { Operator } from '../operator/sender.ts';
import type { Alerts } from './alerts.ts';
import { commitNext } from './commit.ts';
import { checkPrepared } from './prepared.ts';
import { remitNext } from './refund.ts';
import { countWaiting } from './store.ts';

/** What settles on one chain; only the node that holds the lease does anything. */
export type Worker = {
  ctx: Context;
  operator: Operator;
  /** Throws `LeaseLost` outside of a round. */
  lease(): Lease;
  alerts: Alerts;
  outcomes: Outcomes;
  following: Following;
  pace: Pace;
};

/** `busy`: there is more to do at once. `watching`: something is under way. `away`: another node works on it. */
export type Round = 'busy' | 'watching' | 'idle' | 'away';

/** Transactions that may be on their way at once. */
const MAX_OPEN = 8;
const MAX_STEPS = 50;

/** Takes everything on the chain one step further. Throws what the next round may get over. */
export async function runRound(worker: Worker & { hold(lease: Lease | null): void }): Promise<Round> {
  const { ctx, operator, following } = worker;
  const wanted = { chain: operator.chain.name, address: operator.signer.address, node: ctx.node };
  const lease = await takeLease(ctx.db, wanted);
  worker.hold(lease);
  if (lease === null) {
    following.head = null;
    following.suspectSince = null;
    return 'away';
  }
  let open = 0;
  let moved = 0;
  let seen = 0;
  try {
    const prepared = await checkPrepared(worker);
    moved += prepared.moved;
    seen = prepared.seen;
    open = await followTransactions(operator, lease, following, worker.pace, worker.outcomes);
    for (const next of [commitNext, remitNext]) moved += await repeat(worker, next, MAX_OPEN - open);
  } catch (error) {
    if (error instanceof LeaseLost) return 'away';
    if (!(error instanceof Blocked)) {
      worker.alerts.raise('unreachable', messageOf(error));
      throw error;
    }
    worker.alerts.raise(error.reason, error.message);
  } finally {
    await report(worker, open);
  }
  if (moved > 0) return 'busy';
  return open > 0 || seen > 0 ? 'watching' : 'idle';
}

/** One that has to wait does not keep the other kind from going on. */
async function repeat(
  worker: Worker,
  next: (worker: Worker) => Promise<number>,
  most: number,
): Promise<number> {
  let moved = 0;
  try {
    for (let step = 0; step < Math.min(most, MAX_STEPS); step++) {
      const some = await next(worker);
      if (some === 0) break;
      moved += some;
    }
  } catch (error) {
    if (!(error instanceof Blocked)) throw error;
    worker.alerts.raise(error.reason, error.message);
  }
  return moved;
}

async function report({ ctx, operator, alerts }: Worker, open: number): Promise<void> {
  await alerts.report(open, () => countWaiting(ctx.db, operator.chain.name).catch(() => 0));
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
