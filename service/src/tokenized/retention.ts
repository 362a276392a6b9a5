import type { Context } from '../context.ts';
import { deletePrices } from './price-store.ts';
import { clearClaims, deleteUntraded } from './store.ts';

const DAY_MS = 86_400_000;
/** How long an idempotency key is remembered, so that a repeated request is recognized. */
export const CLAIM_TTL_MS = DAY_MS;

/**
 * Deletes orders that never became a trade and are past `ORDER_RETENTION_DAYS`. Trades are business records and are
 * kept, without their idempotency keys; open orders are not touched.
 */
export async function deleteOldOrders(ctx: Context): Promise<void> {
  const before = (ageMs: number) => new Date(ctx.clock.now() - ageMs).toISOString();
  await deleteUntraded(ctx.db, before(ctx.config.retention.orderDays * DAY_MS));
  await clearClaims(ctx.db, before(CLAIM_TTL_MS));
}

/** How long all recorded prices are kept: a little longer than the charts need them. */
const PRICE_TTL_MS = 8 * DAY_MS;
/** How long one price per hour is kept: a little longer than the charts need it. */
const HOURLY_PRICE_TTL_MS = 400 * DAY_MS;

export async function deleteOldPrices({ db, clock }: Context): Promise<void> {
  const before = (ageMs: number) => new Date(clock.now() - ageMs).toISOString();
  await deletePrices(db, { isKept: false, before: before(PRICE_TTL_MS) });
  await deletePrices(db, { isKept: true, before: before(HOURLY_PRICE_TTL_MS) });
}
