import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { deleteExpiredGrants } from '../oauth/housekeeping.ts';
import { erasePiiPastRetention } from '../pii/erasure.ts';
import { deleteOldOrders } from '../tokenized/retention.ts';
import { startInterval } from './interval.ts';

const EVERY = 10 * 60_000;

/** Deletes what has outlived its use. Any number of nodes may do it at once. */
export async function runHousekeeping(ctx: Context): Promise<void> {
  await sql`delete from idempotency_keys where inserted_at < now() - interval '24 hours'`.execute(ctx.db);
  await sql`delete from rate_limits where window_end < now()`.execute(ctx.db);
  await deleteExpiredGrants(ctx);
  await sql`delete from sign_in_failures where window_end < now()`.execute(ctx.db);
  await sql`delete from mail_links where expires_at < now()`.execute(ctx.db);
  await sql`delete from passkey_challenges where expires_at < now()`.execute(ctx.db);
  await sql`delete from wallet_challenges where expires_at < ${new Date(ctx.clock.now()).toISOString()}`.execute(
    ctx.db,
  );
  await sql`delete from webhook_receipts where received_at < now() - interval '60 days'`.execute(ctx.db);
  await erasePiiPastRetention(ctx);
  await deleteOldOrders(ctx);
  await sql`delete from browser_sessions where expires_at < now()`.execute(ctx.db);
}

export function startHousekeeping(ctx: Context): () => Promise<void> {
  return startInterval(ctx, EVERY, 'housekeeping failed', () => runHousekeeping(ctx));
}
