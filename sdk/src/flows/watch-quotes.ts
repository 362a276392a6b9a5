import type { Causeway } from '../client.ts';
import { type CausewayError, isCausewayError } from '../error.ts';
import { sleep } from '../sleep.ts';
import type { QuoteQuery } from '../tokenized.ts';
import type { TokenizedSwapQuote } from '../wire.ts';

/** A poll that failed is told as a value: the next one may succeed. `at` is the time of the answer (`Date.now()`). */
export type WatchedQuote =
  | { at: number; quote: TokenizedSwapQuote; error: null }
  | { at: number; quote: null; error: CausewayError };

export type WatchOptions = {
  /** Milliseconds from the beginning of one poll to that of the next; 2,000 unless told, at least 500. */
  every?: number | undefined;
  /** Ends the iteration. */
  signal?: AbortSignal | undefined;
};

const SHORTEST = 500;
/** No later poll can be answered otherwise. */
const FINAL = new Set([
  'unauthorized',
  'insufficient_scope',
  'validation_failed',
  'symbol_not_found',
  'not_found',
]);

/**
 * Quotes at a steady pace, never two at a time; closed markets and outages come as values, in the place of a quote. Ends
 * with the signal, or when you leave the loop; throws only what no later poll could mend (an unknown symbol, say).
 *
 * @example
 * ```ts
 * import { createCauseway } from '@causeway/sdk';
 * import { watchQuotes } from '@causeway/sdk/flows';
 *
 * export async function watch(causeway: ReturnType<typeof createCauseway>, signal: AbortSignal) {
 *   const query = { symbol: 'AAPLon', side: 'buy', notional_value: '100' } as const;
 *   for await (const { quote, error } of watchQuotes(causeway, query, { every: 1_000, signal }))
 *     console.log(quote?.price ?? error?.code);
 * }
 * ```
 */
export async function* watchQuotes(
  causeway: Causeway,
  query: QuoteQuery,
  { every = 2_000, signal }: WatchOptions = {},
): AsyncGenerator<WatchedQuote, void, void> {
  while (!signal?.aborted) {
    const begun = Date.now();
    const watched = await poll(causeway, query, signal);
    if (watched === null || signal?.aborted) return;
    yield watched;
    const asked = (watched.error?.retryAfter ?? 0) * 1000;
    const pace = Math.max(every, SHORTEST, asked);
    await sleep(Math.max(begun + pace - Date.now(), 0), signal).catch(() => undefined);
  }
}

/** Null when the signal ended it. */
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
    if (!isCausewayError(error) || FINAL.has(error.code)) throw error;
    return { at: Date.now(), quote: null, error };
  }
}
