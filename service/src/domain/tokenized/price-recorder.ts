import { formatUnits } from 'viem/utils';
import { ApiError } from '../../kernel/errors.ts';
import type { Context } from '../../platform/context/context.ts';
import { startInterval } from '../../platform/jobs/interval.ts';
import { VenueRefusal } from '../../platform/providers/venue.ts';
import { listServedOffers } from '../offers/offer.ts';
import { hasPrice, hasPrices, insertPrices, type RecordedPrice } from './price-store.ts';

const PRICE_STEP_MS = 5 * 60_000;
/** Shorter than `PRICE_STEP_MS`, so that a failed attempt is retried within the same step. */
const CHECK_INTERVAL_MS = 60_000;

/** For each asset symbol: the start of the last step in which the venue refused to quote the asset. */
export type RefusedSteps = Map<string, string>;

/**
 * Records the price of one token of each offered asset. Any number of nodes may run this, because only the first
 * price of a step is stored. Asks for no quote while the market is closed, or if the step already has a price.
 */
export async function recordPrices(ctx: Context, refused: RefusedSteps = new Map()): Promise<void> {
  const { clock, db, venue, log } = ctx;
  const offered = new Set((await listServedOffers(ctx)).flatMap(({ symbol }) => symbol ?? []));
  if (offered.size === 0) return;
  const { status } = await venue.marketState();
  if (status === 'closed' || status === 'paused') return;
  const recordedAt = new Date(Math.floor(clock.now() / PRICE_STEP_MS) * PRICE_STEP_MS).toISOString();
  for (const symbol of offered) {
    if (refused.get(symbol) === recordedAt || (await hasPrice(db, symbol, recordedAt))) continue;
    try {
      const quote = await venue.quote({ symbol, side: 'buy', tokenAmount: '1' });
      const price = formatUnits(quote.price, 18);
      await insertPrices(db, [{ symbol, recorded_at: recordedAt, price, session: status }]);
    } catch (err) {
      // An asset that is not trading has no price. Its quote is not requested again in this step.
      if (err instanceof VenueRefusal) refused.set(symbol, recordedAt);
      else log.warn({ err, symbol }, 'could not record a price');
      if (err instanceof ApiError && err.code === 'upstream_unavailable') return;
    }
  }
}

export function startPriceRecorder(ctx: Context): () => Promise<void> {
  const refused: RefusedSteps = new Map();
  return startInterval(ctx, CHECK_INTERVAL_MS, 'recording prices failed', () => recordPrices(ctx, refused));
}

/** Adds past prices if none are stored. The sandbox uses this, because its charts would otherwise be empty. */
export async function importPrices(
  { db }: Context,
  load: () => Promise<readonly RecordedPrice[]>,
): Promise<void> {
  if (!(await hasPrices(db))) await insertPrices(db, await load());
}
