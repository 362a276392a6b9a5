import { queries } from '../../queries.ts';
import type { TokenizedSwapQuote, TokenizedSwapTradingStatus } from '../../wire.ts';
import { type HookOptions, type OptionalParams, type QueryResult, useQueryOf } from './use-query.ts';

/**
 * Returns the price of a tokenized asset for a side and a size; free to poll.
 *
 * @example
 * ```tsx
 * import { useQuote } from '@causeway/sdk/react';
 *
 * function Price() {
 *   const { data } = useQuote({ symbol: 'AAPLon', side: 'buy', token_amount: '1' }, { pollIntervalMs: 3_000 });
 *   return <p>{data?.price} USD</p>;
 * }
 * ```
 */
export function useQuote(
  params: OptionalParams<'quote'>,
  options?: HookOptions<TokenizedSwapQuote>,
): QueryResult<TokenizedSwapQuote> {
  return useQueryOf(queries.quote, params, options);
}

/**
 * Returns whether a tokenized asset can be traded now, and its maximum order size. The service caches both, so polling is cheap.
 *
 * @example
 * ```tsx
 * import { useTradingStatus } from '@causeway/sdk/react';
 *
 * function Market() {
 *   const { data } = useTradingStatus({ symbol: 'AAPLon', side: 'buy' }, { pollIntervalMs: 15_000 });
 *   return <p>{data?.tradable ? 'Open' : 'Closed'}</p>;
 * }
 * ```
 */
export function useTradingStatus(
  params: OptionalParams<'tradingStatus'>,
  options?: HookOptions<TokenizedSwapTradingStatus>,
): QueryResult<TokenizedSwapTradingStatus> {
  return useQueryOf(queries.tradingStatus, params, options);
}
