import type { Page } from '../../paging.ts';
import { queries } from '../../queries.ts';
import type {
  TokenizedSwapMarket,
  TokenizedSwapOrder,
  TokenizedSwapQuote,
  TokenizedSwapTradingStatus,
} from '../../wire.ts';
import {
  type HookOptions,
  type ListQueryResult,
  type OptionalParams,
  type QueryResult,
  useListQuery,
  useQueryOf,
} from './use-query.ts';

/**
 * Returns a tokenized asset's price for a given side and order size. Safe to poll, because no order is placed.
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
 * Returns whether a tokenized asset can be traded now, and its maximum order size. Safe to poll, because no order is
 * placed.
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

/**
 * Returns a tokenized asset's trading hours, previous close and recorded prices.
 *
 * @example
 * ```tsx
 * import { useMarket } from '@causeway/sdk/react';
 *
 * function PreviousClose() {
 *   const { data } = useMarket({ symbol: 'AAPLon', range: '1w' });
 *   return <p>{data?.previous_close} USD</p>;
 * }
 * ```
 */
export function useMarket(
  params: OptionalParams<'market'>,
  options?: HookOptions<TokenizedSwapMarket>,
): QueryResult<TokenizedSwapMarket> {
  return useQueryOf(queries.market, params, options);
}

/**
 * Returns the user's orders for tokenized assets with their outcomes, newest first.
 *
 * @example
 * ```tsx
 * import { useTokenizedOrders } from '@causeway/sdk/react';
 *
 * function Orders() {
 *   const { data = [] } = useTokenizedOrders();
 *   return <p>{data.map(({ symbol, status }) => `${symbol} ${status}`).join(', ')}</p>;
 * }
 * ```
 */
export function useTokenizedOrders(
  options?: HookOptions<Page<TokenizedSwapOrder>> & { limit?: number | undefined },
): ListQueryResult<TokenizedSwapOrder> {
  return useListQuery((count) => queries.tokenizedOrders(count), options?.limit ?? 20, options);
}
