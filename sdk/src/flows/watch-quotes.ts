import type { Causeway } from '../client.ts';
import { type CausewayError, isCausewayError } from '../error.ts';
import { sleep } from '../sleep.ts';
import type { QuoteQuery } from '../tokenized.ts';
import type { TokenizedSwapQuote } from '../wire.ts';

/**
 * The result of one poll: a quote, or an error that may be temporary. `at` is when the result arrived (`Date.now()`).
 */
export type WatchedQuote =
  | { at: number; quote: TokenizedSwapQuote; error: null }
  | { at: number; quote: null; error: CausewayError };

export type WatchOptions = {
  /** The time from the start of one poll to the start of the next. Default: 2,000; minimum: 500. */
  intervalMs?: number | undefined;
  /** Ends the iteration. */
  signal?: AbortSignal | undefined;
};

const DEFAULT_INTERVAL_MS = 2_000;
const MIN_INTERVAL_MS = 500;
/** Permanent errors, which every later poll would return too. */
const PERMANENT_ERRORS = new Set([
  'unauthorized',
  'insufficient_scope',
  'validation_failed',
  'symbol_not_found',
  'not_found',
]);

/**
 * Polls quotes at an interval, or more slowly if the service sends `Retry-After`; polls never overlap. If the market is
 * closed or the service is unavailable, yields the error and continues. Throws only permanent errors, such as an
 * unknown symbol. The iteration ends when the signal is aborted or you leave the loop.
 *
 * @example
 * ```ts
 * import { createCauseway } from '@causeway/sdk';
 * import { watchQuotes } from '@causeway/sdk/flows';
 *
 * export async function watch(causeway: ReturnType<typeof createCauseway>, signal: AbortSignal) {
 *   const query = { symbol: 'AAPLon', side: 'buy', notional_value: '100' } as const;
 *   for await (const { quote, error } of watchQuotes(causeway, query, { intervalMs: 1_000, signal }))
 *     console.log(quote?.price ?? error?.code);
 * }
 * ```
 */
export async function* watchQuotes(
  causeway: Causeway,
  query: QuoteQuery,
  { intervalMs = DEFAULT_INTERVAL_MS, signal }: WatchOptions = {},
): AsyncGenerator<WatchedQuote, void, void> {
  while (!signal?.aborted) {
    const startedAt = Date.now();
    const watched = await poll(causeway, query, signal);
    if (watched === null || signal?.aborted) return;
    yield watched;
    const retryAfterMs = (watched.error?.retryAfter ?? 0) * 1000;
    const waitMs = Math.max(intervalMs, MIN_INTERVAL_MS, retryAfterMs);
    await sleep(Math.max(startedAt + waitMs - Date.now(), 0), signal).catch(() => undefined);
  }
}

/** Returns null if the signal was aborted. */
async function poll(
  causeway: Causeway,
  query: QuoteQuery,
  signal: AbortSignal | undefined,
): Promise<WatchedQuote | null> {
  try {
    const quote = await causeway.tokenized.quote(query, { signal });
    return { at: Date.now(), quote, error: null };
  } catch (error) {
    if (signal?.aborted) return null;
    if (!isCausewayError(error) || PERMANENT_ERRORS.has(error.code)) throw error;
    return { at: Date.now(), quote: null, error };
  }
}
