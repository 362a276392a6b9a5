import type { Caller } from '../../kernel/access.ts';
import { timestampOf, toTimestamp } from '../../kernel/wire.ts';
import type { Context } from '../../platform/context/context.ts';
import { findOfferBySymbol } from '../offers/offer.ts';
import { findPreviousClose, listPrices } from './price-store.ts';
import { nextOpening } from './refusal.ts';
import type { MarketQuery, PriceRange, SwapMarket } from './schema.ts';

const HOUR_S = 3_600;
const DAY_S = 24 * HOUR_S;

/** Each range has about as many prices as a chart can show. */
const RANGES: Record<PriceRange, { seconds: number; stepSeconds: number }> = {
  '1d': { seconds: DAY_S, stepSeconds: 300 },
  '1w': { seconds: 7 * DAY_S, stepSeconds: HOUR_S },
  '1m': { seconds: 31 * DAY_S, stepSeconds: 4 * HOUR_S },
  '1y': { seconds: 366 * DAY_S, stepSeconds: DAY_S },
};

export async function readMarket(
  ctx: Context,
  caller: Caller,
  { symbol, range = '1d' }: MarketQuery,
): Promise<SwapMarket> {
  await findOfferBySymbol(ctx, caller, symbol);
  const now = timestampOf(ctx.clock);
  const [hours, prices, previousClose] = await Promise.all([
    readHours(ctx, symbol),
    listPrices(ctx.db, symbol, { ...RANGES[range], now }),
    findPreviousClose(ctx.db, symbol, now),
  ]);
  return {
    object: 'tokenized_swap_market',
    symbol,
    ...hours,
    previous_close: previousClose,
    prices: {
      object: 'list',
      data: prices.map((price) => ({ object: 'tokenized_swap_price', ...price })),
    },
  };
}

type Hours = Pick<SwapMarket, 'is_open' | 'session' | 'opens_at' | 'closes_at'>;

/** Reads the trading hours. If the venue is down, the hours are null, so that the price history can still be shown. */
async function readHours({ venue, log }: Context, symbol: string): Promise<Hours> {
  try {
    const [market, sessions] = await Promise.all([venue.marketState(), venue.sessionLimits(symbol)]);
    const { status, nextClose, offhours } = market;
    const isOpen = status !== 'paused' && status !== 'closed' && sessions[status]?.tradable === true;
    const closing = status === 'offhours' ? offhours.nextClose : nextClose;
    const toTime = (ms: number | null) => (ms === null ? null : toTimestamp(ms * 1000));
    return {
      is_open: isOpen,
      session: status,
      opens_at: isOpen ? null : toTime(nextOpening(market, sessions)),
      closes_at: isOpen ? toTime(closing) : null,
    };
  } catch (err) {
    log.warn({ err, symbol }, 'could not read the trading hours');
    return { is_open: null, session: null, opens_at: null, closes_at: null };
  }
}
