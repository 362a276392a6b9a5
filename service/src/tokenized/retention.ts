import type { Context } from '../context.ts';
import { clearClaims, deleteUntraded } from './store.ts';

const DAY_MS = 86_400_000;
/** Long enough for partners to ask about an order and for the venue to send its statement. */
const UNTRADED_TTL_MS = 90 * DAY_MS;
/** How long a repeated request is recognised by its idempotency key. */
export const CLAIM_TTL_MS = DAY_MS;

/**
 * Deletes old orders that never became a trade. Trades are business records and are kept; open orders are not touched.
 */
export async function deleteOldOrders(ctx: Context): Promise<void> {
  const before = (ageMs: number) => new Date(ctx.clock.now() - ageMs).toISOString();
  await deleteUntraded(ctx.db, before(UNTRADED_TTL_MS));
  await clearClaims(ctx.db, before(CLAIM_TTL_MS));
}
