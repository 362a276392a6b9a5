import type { Clock } from '../clock.ts';
import { ApiError } from '../errors.ts';
import type { Venue } from './provider.ts';

export type SharedVenue = Venue & {
  /** Drops what is known, for whoever has just changed the market. */
  forget(): void;
};

/** How long the venue itself keeps such an answer; milliseconds. */
const LIFE = { price: 1_000, status: 1_000, session: 60_000, asset: 3_600_000 };
const MOST = 10_000;

/** `until` is null while the answer is on its way. */
type Kept = { answer: Promise<unknown>; until: number | null; at: number };

/**
 * Equal questions share one answer: while it is on its way, and then for as long as the venue would give the same again.
 * Limits are shared on their way only, because every order changes them; attestations never.
 */
export function shareVenue(venue: Venue, clock: Clock): SharedVenue {
  const kept = new Map<string, Kept>();

  function share<T>(key: string, life: number, ask: () => Promise<T>): Promise<T> {
    const now = performance.now();
    const known = kept.get(key);
    // Time that stands still, or leaps, is no reason to live on.
    const isFresh =
      known !== undefined &&
      (known.until === null || (now < known.until && Math.abs(clock.now() - known.at) <= life));
    if (isFresh) return known.answer as Promise<T>;
    const answer = ask();
    if (kept.size >= MOST) kept.clear();
    const entry: Kept = { answer, until: null, at: clock.now() };
    kept.set(key, entry);
    const drop = () => void (kept.get(key) === entry && kept.delete(key));
    answer.then(() => {
      entry.until = performance.now() + life;
      if (life === 0) drop();
    }, drop);
    return answer;
  }

  return {
    ...venue,
    quote: (order) => {
      const size = 'tokenAmount' in order ? `t${order.tokenAmount}` : `n${order.notionalValue}`;
      const key = `quote ${order.symbol} ${order.side} ${order.duration ?? ''} ${size}`;
      return share(key, LIFE.price, () => venue.quote(order));
    },
    tradingLimits: (symbol, side) =>
      share(`limits ${symbol} ${side}`, 0, () => venue.tradingLimits(symbol, side)),
    sessionLimits: (symbol) => share(`session ${symbol}`, LIFE.session, () => venue.sessionLimits(symbol)),
    marketState: () => share('market', LIFE.status, () => venue.marketState()),
    assetPauses: () => share('pauses', LIFE.status, () => venue.assetPauses()),
    decimals: (symbol) => share(`decimals ${symbol}`, LIFE.asset, () => venue.decimals(symbol)),
    forget: () => kept.clear(),
  };
}

/** For an installation that serves no tokenized swaps. */
export function absentVenue(): Venue {
  const refuse = () =>
    Promise.reject(
      new ApiError(
        'upstream_unavailable',
        { upstream: 'venue' },
        { cause: new Error('ONDO_API_KEY is not set'), headers: { 'retry-after': '3600' } },
      ),
    );
  return {
    quote: refuse,
    attest: refuse,
    tradingLimits: refuse,
    sessionLimits: refuse,
    marketState: refuse,
    assetPauses: refuse,
    decimals: refuse,
    close: async () => {},
  };
}
