import type { Context } from '../../platform/context/context.ts';
import { clearClaims, deleteUntraded } from '../holdings/order-store.ts';
import { deletePrices } from './price-store.ts';

const DAY_MS = 86_400_000;
/** How long an idempotency key is remembered, so that a repeated request is recognized. */
export const CLAIM_TTL_MS = DAY_MS;

/** Keeps trades, because they are business records, but clears their idempotency keys after `CLAIM_TTL_MS`. */
export async function deleteOldOrders(ctx: Context): Promise<void> {
  const before = (ageMs: number) => new Date(ctx.clock.now() - ageMs).toISOString();
  await deleteUntraded(ctx.db, before(ctx.config.retention.orderDays * DAY_MS));
  await clearClaims(ctx.db, before(CLAIM_TTL_MS));
}

/** How long prices are kept in full detail: a little longer than one-week charts need. */
const PRICE_TTL_MS = 8 * DAY_MS;
/** How long hourly prices are kept: a little longer than one-year charts need. */
const HOURLY_PRICE_TTL_MS = 400 * DAY_MS;

export async function deleteOldPrices({ db, clock }: Context): Promise<void> {
  const before = (ageMs: number) => new Date(clock.now() - ageMs).toISOString();
  await deletePrices(db, { isKept: false, before: before(PRICE_TTL_MS) });
  await deletePrices(db, { isKept: true, before: before(HOURLY_PRICE_TTL_MS) });
}
