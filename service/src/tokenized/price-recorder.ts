import { formatUnits } from 'viem/utils';
import type { Context } from '../context.ts';
import { startInterval } from '../jobs/interval.ts';
import { listServedOffers } from '../offers/offer.ts';
import { hasPrices, insertPrices, listRecordedSymbols, type RecordedPrice } from './price-store.ts';
import { VenueRefusal } from './provider.ts';

const PRICE_STEP_MS = 5 * 60_000;
/** Checked more often than a price is due, so that a failed attempt is repeated soon. */
const CHECK_INTERVAL_MS = 60_000;

/**
 * Records what buying one token of each offered asset costs, at most once per step. Safe to run on any number of nodes: the first
 * price of a step wins.
 */
export async function recordPrices(ctx: Context): Promise<void> {
  const { clock, db, venue } = ctx;
  const offered = new Set((await listServedOffers(ctx)).flatMap(({ symbol }) => symbol ?? []));
  const recordedAt = new Date(Math.floor(clock.now() / PRICE_STEP_MS) * PRICE_STEP_MS).toISOString();
  const recorded = new Set(await listRecordedSymbols(db, [...offered], recordedAt));
  const failures: { err: unknown; symbol: string }[] = [];
  // One after the other, because the venue limits the rate of quotes.
  for (const symbol of offered) {
    if (recorded.has(symbol)) continue;
    try {
      const quote = await venue.quote({ symbol, side: 'buy', tokenAmount: '1' });
      const { status } = await venue.marketState();
      await insertPrices(db, [
        { symbol, recorded_at: recordedAt, price: formatUnits(quote.price, 18), session: status },
      ]);
    } catch (err) {
      // An asset that does not trade now has no price.
      if (!(err instanceof VenueRefusal)) failures.push({ err, symbol });
    }
  }
  if (failures.length > 0)
    ctx.log.warn({ ...failures[0], failed: failures.length }, 'could not record prices');
}

export function startPriceRecorder(ctx: Context): () => Promise<void> {
  return startInterval(ctx, CHECK_INTERVAL_MS, 'recording prices failed', () => recordPrices(ctx));
}

/** Adds earlier prices unless there are any. For the sandbox, whose charts would be empty otherwise. */
export async function importPrices(
  { db }: Context,
  load: () => Promise<readonly RecordedPrice[]>,
): Promise<void> {
  if (!(await hasPrices(db))) await insertPrices(db, await load());
}
