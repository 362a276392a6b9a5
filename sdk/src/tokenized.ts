import { listPages, type PageQuery, type Pages } from './paging.ts';
import type { RequestOptions, Send } from './request.ts';
import type {
  Operations,
  TokenizedSwapMarket,
  TokenizedSwapOrder,
  TokenizedSwapQuote,
  TokenizedSwapTradingStatus,
  TokenizedSwapTransaction,
} from './wire.ts';

export type QuoteQuery = Operations['quoteTokenizedSwap']['query'];
export type MarketQuery = Operations['getTokenizedMarket']['query'];
export type TradingStatusQuery = Operations['getTokenizedTradingStatus']['query'];
export type TokenizedOrder = Operations['encodeTokenizedSwap']['body'];

export type Tokenized = {
  /** Returns an indicative price. Safe to poll, because no order is placed. */
  quote(query: QuoteQuery, options?: RequestOptions): Promise<TokenizedSwapQuote>;
  /** Returns whether the asset can be traded now, and its maximum order size. Safe to poll. */
  tradingStatus(query: TradingStatusQuery, options?: RequestOptions): Promise<TokenizedSwapTradingStatus>;
  /** Returns the trading hours, the previous close and the recorded prices for a day, week, month or year. */
  market(query: MarketQuery, options?: RequestOptions): Promise<TokenizedSwapMarket>;
  /**
   * Orders a swap and returns its calldata. Call it once per user confirmation: each call uses up a signed quote (an
   * attestation) from the venue, and the calldata expires.
   */
  transaction(body: TokenizedOrder, options?: RequestOptions): Promise<TokenizedSwapTransaction>;
  /** Lists the user's orders and their outcomes, newest first. */
  orders(query?: PageQuery, options?: RequestOptions): Pages<TokenizedSwapOrder>;
};

export function tokenizedOf(send: Send): Tokenized {
  const path = '/v1/tokenized/swap';
  return {
    quote: (query, options) => send({ method: 'GET', path: `${path}/quote`, query }, options),
    tradingStatus: (query, options) =>
      send({ method: 'GET', path: `${path}/trading-status`, query }, options),
    market: (query, options) => send({ method: 'GET', path: `${path}/market`, query }, options),
    transaction: (body, options) => send({ method: 'POST', path: `${path}/transaction`, body }, options),
    orders: (query = {}, options) =>
      listPages(query, (pageQuery) =>
        send({ method: 'GET', path: `${path}/orders`, query: pageQuery }, options),
      ),
  };
}
