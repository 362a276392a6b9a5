import type { Context } from '../context.ts';
import { clearClaims, deleteUntraded } from './store.ts';

const DAY_MS = 86_400_000;
/**
 * How long orders without a trade are kept: long enough for partners' questions and for the venue's
 * statement.
 */
const UNTRADED_TTL_MS = 90 * DAY_MS;
/** How long an idempotency key is remembered, so that a repeated request is recognised. */
export const CLAIM_TTL_MS = DAY_MS;

/**
 * Deletes old orders that never became a trade. Trades are business records and are kept; open orders are not touched.
 */
export async function deleteOldOrders(ctx: Context): Promise<void> {
  const before = (ageMs: number) => new Date(ctx.clock.now() - ageMs).toISOString();
  await deleteUntraded(ctx.db, before(UNTRADED_TTL_MS));
  await clearClaims(ctx.db, before(CLAIM_TTL_MS));
}
