import type { Causeway } from '../client.ts';
import type { CausewayError } from '../error.ts';
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

export async function* watchQuotes(
  causeway: Causeway,
  query: QuoteQuery,
  options: WatchOptions = {},
): AsyncGenerator<WatchedQuote, void, void> {
  throw new Error(`not yet: ${String([causeway, query, options])}`);
}
