import { deleteExpiredLinks } from '../accounts/mail-link-store.ts';
import { deleteExpiredChallenges } from '../accounts/passkey-store.ts';
import { deleteExpiredSessions } from '../accounts/session-store.ts';
import { deleteExpiredSignInFailures, deleteUnusedSources } from '../accounts/throttle-store.ts';
import type { Context } from '../context.ts';
import { deleteExpiredEvents } from '../events/retention.ts';
import { deleteExpiredIdempotencyKeys } from '../http/idempotency-store.ts';
import { deleteExpiredRateLimits } from '../http/rate-limit-store.ts';
import { deleteOldReceipts } from '../http/webhook-receipt-store.ts';
import { deleteOldNotices } from '../notices/store.ts';
import {
  deleteExpiredArtifacts,
  deleteExpiredTokens,
  deleteRetiredKeys,
  deleteUnusedGrants,
} from '../oauth/housekeeping.ts';
import { erasePiiPastRetention } from '../pii/erasure.ts';
import { deleteOldOrders } from '../tokenized/retention.ts';
import { deleteExpiredWalletChallenges } from '../wallets/housekeeping.ts';
import { deleteOldDeliveries } from '../webhooks/delivery-log.ts';
import { startInterval } from './interval.ts';

const INTERVAL_MS = 10 * 60_000;

export type HousekeepingSteps = Record<string, (ctx: Context) => Promise<unknown>>;

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
  'personal data': erasePiiPastRetention,
  'tokenized orders': deleteOldOrders,
};

/** Deletes expired data. Each step runs even if an earlier step fails, and any number of nodes may run concurrently. */
export async function runHousekeeping(ctx: Context, steps: HousekeepingSteps = STEPS): Promise<void> {
  for (const [step, run] of Object.entries(steps)) {
    try {
      await run(ctx);
    } catch (err) {
      ctx.log.warn({ err, step }, 'housekeeping step failed');
    }
  }
}

export function startHousekeeping(ctx: Context): () => Promise<void> {
  return startInterval(ctx, INTERVAL_MS, 'housekeeping failed', () => runHousekeeping(ctx));
}
