import type { Context } from '../context.ts';
import { deleteUntraded, forgetClaims } from './store.ts';

const DAY = 86_400_000;
/** Longer than a partner takes to ask what became of an order, and than a venue takes to send its statement. */
const UNTRADED = 90 * DAY;
/** A repeat of a request is recognised for so long. */
export const KEY_LIFE = DAY;

/** Trades are kept for good, as business records; what never became one goes. Orders without an outcome are not touched. */
export async function deleteOldOrders(ctx: Context): Promise<void> {
  const before = (age: number) => new Date(ctx.clock.now() - age).toISOString();
  await deleteUntraded(ctx.db, before(UNTRADED));
  await forgetClaims(ctx.db, before(KEY_LIFE));
}
