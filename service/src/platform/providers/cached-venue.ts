import type { Clock } from '../../kernel/clock.ts';
import type { IndicativeQuote, Order, Venue } from './venue.ts';

export type CachedVenue = Omit<Venue, 'quote' | 'decimals'> & {
  quote(order: Order): IndicativeQuote | Promise<IndicativeQuote>;
  decimals(symbol: string): number | Promise<number>;
  /** `hits`: calls answered by the cache or by a call in flight. `misses`: calls sent to the venue. */
  cacheCounts: Readonly<{ hits: number; misses: number }>;
  /** Empties the cache. The sandbox and tests call this after changing the simulated venue. */
  clear(): void;
};

/** Each TTL matches how long the venue itself caches the answer. */
const TTL_MS = { price: 1_000, status: 1_000, session: 60_000, asset: 3_600_000 };
const MAX_ENTRIES = 10_000;

/** A read triggers a refresh if less than this fraction of the TTL is left. */
const REFRESH_FRACTION = 0.25;

/** `settled` is null while the request is in flight. */
type Entry = {
  promise: Promise<unknown>;
  settled: { value: unknown; until: number } | null;
  at: number;
  isRefreshing?: true;
};

/**
 * Identical concurrent calls share one request, those for trading limits too, though limits are not cached, because
 * every order changes them. Attestations are neither shared nor cached. `now` is monotonic real time: unlike `clock`,
 * it never jumps.
 */
export function cacheVenue(
  venue: Venue,
  clock: Clock,
  now: () => number = () => performance.now(),
): CachedVenue {
  const entries = new Map<string, Entry>();
  const cacheCounts = { hits: 0, misses: 0 };

  function find(key: string, ttlMs: number): Entry | undefined {
    const entry = entries.get(key);
    if (entry === undefined || entry.settled === null) return entry;
    // The entry also expires when the sandbox clock jumps.
    const isFresh = now() < entry.settled.until && Math.abs(clock.now() - entry.at) <= ttlMs;
    return isFresh ? entry : undefined;
  }

  function cached<T>(key: string, ttlMs: number, request: () => Promise<T>): Promise<T> {
    const found = find(key, ttlMs);
    if (found !== undefined) {
      cacheCounts.hits++;
      return found.promise as Promise<T>;
    }
    cacheCounts.misses++;
    const promise = request();
    if (entries.size >= MAX_ENTRIES) entries.clear();
    const entry: Entry = { promise, settled: null, at: clock.now() };
    entries.set(key, entry);
    const drop = () => void (entries.get(key) === entry && entries.delete(key));
    promise.then((value) => {
      entry.settled = { value, until: now() + ttlMs };
      if (ttlMs === 0) drop();
    }, drop);
    return promise;
  }

  /**
   * Returns a cached value synchronously. Refreshes one that is about to expire in the background, so that callers
   * rarely wait.
   */
  function cachedSync<T>(key: string, ttlMs: number, request: () => Promise<T>): T | Promise<T> {
    const found = find(key, ttlMs);
    if (found === undefined || found.settled === null) return cached(key, ttlMs, request);
    if (!found.isRefreshing && now() > found.settled.until - ttlMs * REFRESH_FRACTION)
      refresh(key, ttlMs, found, request);
    cacheCounts.hits++;
    return found.settled.value as T;
  }

  /** Requests the value again in the background. If the request fails, the entry stays until it expires. */
  function refresh(key: string, ttlMs: number, previous: Entry, request: () => Promise<unknown>): void {
    previous.isRefreshing = true;
    const at = clock.now();
    const promise = request();
    promise.then(
      (value) => {
        if (entries.get(key) === previous)
          entries.set(key, { promise, settled: { value, until: now() + ttlMs }, at });
      },
      () => undefined,
    );
  }

  return {
    ...venue,
    quote: (order) => {
      const size = 'tokenAmount' in order ? `t${order.tokenAmount}` : `n${order.notionalValue}`;
      const key = `quote ${order.symbol} ${order.side} ${order.duration ?? ''} ${size}`;
      return cachedSync(key, TTL_MS.price, () => venue.quote(order));
    },
    tradingLimits: (symbol, side) =>
      cached(`limits ${symbol} ${side}`, 0, () => venue.tradingLimits(symbol, side)),
    sessionLimits: (symbol) => cached(`session ${symbol}`, TTL_MS.session, () => venue.sessionLimits(symbol)),
    marketState: () => cached('market', TTL_MS.status, () => venue.marketState()),
    assetPauses: () => cached('pauses', TTL_MS.status, () => venue.assetPauses()),
    decimals: (symbol) => cachedSync(`decimals ${symbol}`, TTL_MS.asset, () => venue.decimals(symbol)),
    cacheCounts,
    clear: () => entries.clear(),
  };
}
