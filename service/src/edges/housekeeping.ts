import { Counter, Gauge } from 'prom-client';
import { deleteExpiredLinks } from '../domain/accounts/mail-link-store.ts';
import { deleteExpiredChallenges } from '../domain/accounts/passkey-store.ts';
import { deleteExpiredSessions } from '../domain/accounts/session-store.ts';
import { deleteExpiredSignInFailures, deleteUnusedSources } from '../domain/accounts/throttle-store.ts';
import { erasePiiPastRetention } from '../domain/erasure/erasure.ts';
import { deleteOldNotices } from '../domain/notices/store.ts';
import { deleteUnusedGrants } from '../domain/oauth/grant-store.ts';
import { deleteRetiredKeys } from '../domain/oauth/key-store.ts';
import { deleteExpiredArtifacts, deleteExpiredTokens } from '../domain/oauth/token-store.ts';
import { deleteOldAccesses } from '../domain/pii/store.ts';
import { deleteExpiredWalletChallenges } from '../domain/proofs/store.ts';
import { deleteOldOrders, deleteOldPrices } from '../domain/tokenized/retention.ts';
import { deleteOldDeliveries, maintainAttemptPartitions } from '../domain/webhooks/delivery-log.ts';
import { deleteOldAuditEntries } from '../platform/audit/retention.ts';
import type { Context } from '../platform/context/context.ts';
import { deleteExpiredEvents } from '../platform/events/log.ts';
import { deleteExpiredIdempotencyKeys } from '../platform/http/idempotency-store.ts';
import { deleteOldReceipts } from '../platform/http/webhook-receipt-store.ts';
import { startInterval } from '../platform/jobs/interval.ts';
import { deleteExpiredRateLimits } from '../platform/limits/rate-limit-store.ts';

const INTERVAL_MS = 10 * 60_000;

export type HousekeepingSteps = Record<string, (ctx: Context) => Promise<unknown>>;

type OnStep = (step: string, isDone: boolean) => void;

const STEPS: HousekeepingSteps = {
  'idempotency keys': deleteExpiredIdempotencyKeys,
  'rate limits': deleteExpiredRateLimits,
  'OAuth tokens': deleteExpiredTokens,
  'OAuth artifacts': deleteExpiredArtifacts,
  'OAuth grants': deleteUnusedGrants,
  'signing keys': deleteRetiredKeys,
  'sign-in failures': deleteExpiredSignInFailures,
  'sign-in sources': deleteUnusedSources,
  'mail links': deleteExpiredLinks,
  notices: deleteOldNotices,
  'passkey challenges': deleteExpiredChallenges,
  'browser sessions': deleteExpiredSessions,
  'wallet challenges': deleteExpiredWalletChallenges,
  'webhook receipts': deleteOldReceipts,
  events: deleteExpiredEvents,
  'webhook deliveries': deleteOldDeliveries,
  'webhook attempts': (ctx) => maintainAttemptPartitions(ctx),
  'personal data': erasePiiPastRetention,
  'tokenized orders': deleteOldOrders,
  'tokenized prices': deleteOldPrices,
  'audit log': deleteOldAuditEntries,
  'accesses to personal data': deleteOldAccesses,
};

/** A failed step does not stop the others. Any number of nodes may run this concurrently. */
export async function runHousekeeping(
  ctx: Context,
  steps: HousekeepingSteps = STEPS,
  onStep: OnStep = () => undefined,
): Promise<void> {
  for (const [step, run] of Object.entries(steps)) {
    try {
      await run(ctx);
      onStep(step, true);
    } catch (err) {
      ctx.log.warn({ err, step }, 'housekeeping step failed');
      onStep(step, false);
    }
  }
}

export function startHousekeeping(ctx: Context): () => Promise<void> {
  const onStep = countSteps(ctx, Object.keys(STEPS));
  return startInterval(ctx, INTERVAL_MS, 'housekeeping failed', () => runHousekeeping(ctx, STEPS, onStep));
}

function countSteps({ metrics: { registry }, clock }: Context, steps: readonly string[]): OnStep {
  const labelNames = ['step'] as const;
  const lastRun = new Gauge({
    name: 'causeway_housekeeping_last_run_timestamp_seconds',
    help: 'When this node last completed the housekeeping step. Initially, the time at which the node started.',
    ...{ labelNames, registers: [registry] },
  });
  const failures = new Counter({
    name: 'causeway_housekeeping_failures_total',
    help: 'Housekeeping steps that failed.',
    ...{ labelNames, registers: [registry] },
  });
  // Sets an initial value, because the alert on this metric needs one even for a step that has failed ever since the
  // node started.
  for (const step of steps) lastRun.set({ step }, clock.now() / 1000);
  return (step, isDone) => {
    if (isDone) lastRun.set({ step }, clock.now() / 1000);
    else failures.inc({ step });
  };
}
