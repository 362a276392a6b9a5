import type { Clock } from '../clock.ts';
import type { IndicativeQuote, Order, Venue } from './provider.ts';

/** Answers at once what it knows. */
export type CachedVenue = Omit<Venue, 'quote' | 'decimals'> & {
  quote(order: Order): IndicativeQuote | Promise<IndicativeQuote>;
  decimals(symbol: string): number | Promise<number>;
  /** Drops what is known, for whoever has just changed the market. */
  clear(): void;
};

/** How long the venue itself keeps such an answer; milliseconds. */
const LIFE = { price: 1_000, status: 1_000, session: 60_000, asset: 3_600_000 };
const MOST = 10_000;

/** The last part of its life in which an answer is renewed by whoever asks for it. */
const RENEWAL = 0.25;

/** `known` is null while the answer is on its way. */
type Kept = {
  answer: Promise<unknown>;
  known: { value: unknown; until: number } | null;
  at: number;
  isRenewed?: true;
};

/**
 * Equal questions share one answer: while it is on its way, and then for as long as the venue would give the same again.
 * Limits are shared on their way only, because every order changes them; attestations never. `now` is monotonic real
 * time, whatever clock the rules run by.
 */
export function cacheVenue(
  venue: Venue,
  clock: Clock,
  now: () => number = () => performance.now(),
): CachedVenue {
  const kept = new Map<string, Kept>();

  /** What is known of it, or undefined when nobody may rely on it any more. */
  function find(key: string, life: number): Kept | undefined {
    const found = kept.get(key);
    if (found === undefined || found.known === null) return found;
    // Time that stands still, or leaps, is no reason to live on.
    const isFresh = now() < found.known.until && Math.abs(clock.now() - found.at) <= life;
    return isFresh ? found : undefined;
  }

  function share<T>(key: string, life: number, ask: () => Promise<T>): Promise<T> {
    const found = find(key, life);
    if (found !== undefined) return found.answer as Promise<T>;
    const answer = ask();
    if (kept.size >= MOST) kept.clear();
    const entry: Kept = { answer, known: null, at: clock.now() };
    kept.set(key, entry);
    const drop = () => void (kept.get(key) === entry && kept.delete(key));
    answer.then((value) => {
      entry.known = { value, until: now() + life };
      if (life === 0) drop();
    }, drop);
    return answer;
  }

  /** What is asked all the time is renewed before its time is over, so that nobody has to wait for it. */
  function shareAtOnce<T>(key: string, life: number, ask: () => Promise<T>): T | Promise<T> {
    const found = find(key, life);
    if (found === undefined || found.known === null) return share(key, life, ask);
    if (!found.isRenewed && now() > found.known.until - life * RENEWAL) renew(key, life, found, ask);
    return found.known.value as T;
  }

  /** Should it fail, the next one to ask after its time hears why. */
  function renew(key: string, life: number, former: Kept, ask: () => Promise<unknown>): void {
    former.isRenewed = true;
    const at = clock.now();
    const answer = ask();
    answer.then(
      (value) => {
        if (kept.get(key) === former) kept.set(key, { answer, known: { value, until: now() + life }, at });
      },
      () => undefined,
    );
  }

  return {
    ...venue,
    quote: (order) => {
      const size = 'tokenAmount' in order ? `t${order.tokenAmount}` : `n${order.notionalValue}`;
      const key = `quote ${order.symbol} ${order.side} ${order.duration ?? ''} ${size}`;
      return shareAtOnce(key, LIFE.price, () => venue.quote(order));
    },
    tradingLimits: (symbol, side) =>
      share(`limits ${symbol} ${side}`, 0, () => venue.tradingLimits(symbol, side)),
    sessionLimits: (symbol) => share(`session ${symbol}`, LIFE.session, () => venue.sessionLimits(symbol)),
    marketState: () => share('market', LIFE.status, () => venue.marketState()),
    assetPauses: () => share('pauses', LIFE.status, () => venue.assetPauses()),
    decimals: (symbol) => shareAtOnce(`decimals ${symbol}`, LIFE.asset, () => venue.decimals(symbol)),
    clear: () => kept.clear(),
  };
}
