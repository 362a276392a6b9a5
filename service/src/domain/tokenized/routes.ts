import type { ErrorCode } from '../../kernel/errors.ts';
import { PageQuery } from '../../kernel/paging.ts';
import { readIdempotencyKey } from '../../platform/http/idempotency.ts';
import { partnerRoute, userRoute } from '../../platform/http/route.ts';
import { readMarket } from './market.ts';
import { readOrders } from './order-list.ts';
import { quoteSwap } from './quote.ts';
import {
  MarketQuery,
  NewTransaction,
  QuoteQuery,
  StatusQuery,
  SwapMarket,
  SwapOrderList,
  SwapQuote,
  SwapTransaction,
  TradingStatus,
} from './schema.ts';
import { readTradingStatus } from './trading-status.ts';
import { assertMayReplay, encodeTransaction } from './transaction.ts';

const refusals = [
  'market_closed',
  'market_paused',
  'asset_paused',
  'side_not_allowed',
  'limit_reached',
  'symbol_not_found',
  'upstream_error',
  'upstream_unavailable',
] as const;

export const tokenizedRoutes = [
  partnerRoute('swaps:read', {
    method: 'GET',
    path: '/v1/tokenized/swap/quote',
    operationId: 'quoteTokenizedSwap',
    summary: 'Get an indicative price for a tokenized asset',
    description:
      'The price depends on the size and the side of the order. Polling is free and uses up no attestation. Send exactly one of `token_amount` and `notional_value`. Prices refer to Ethereum mainnet in every environment.',
    query: QuoteQuery,
    reply: SwapQuote,
    keepsText: true,
    errors: ['validation_failed', ...refusals],
    handle: (ctx, caller, { query }) => quoteSwap(ctx, caller, query),
  }),
  partnerRoute('swaps:read', {
    method: 'GET',
    path: '/v1/tokenized/swap/trading-status',
    operationId: 'getTokenizedTradingStatus',
    summary: 'Get the trading status of a tokenized asset',
    description:
      'Returns whether the asset can be traded now, and how much can be ordered, fee included. A limit of null means that trading is restricted, not that there is no limit.',
    query: StatusQuery,
    reply: TradingStatus,
    errors: ['validation_failed', 'symbol_not_found', 'upstream_error', 'upstream_unavailable'],
    handle: (ctx, caller, { query }) => readTradingStatus(ctx, caller, query),
  }),
  partnerRoute('swaps:read', {
    method: 'GET',
    path: '/v1/tokenized/swap/market',
    operationId: 'getTokenizedMarket',
    summary: 'Get the trading hours and the price history of a tokenized asset',
    description:
      'Each price is the cost of buying one token. Prices are recorded every five minutes while the market is open, and listed oldest first. `range` ends with the newest recorded price, so that a closed market shows its last day. `previous_close` is the last price recorded in a regular session before today (New York time). `is_open`, `session`, `opens_at` and `closes_at` are null if the venue does not report them. `opens_at` is also null while the asset can be traded, and `closes_at` is also null while it cannot.',
    query: MarketQuery,
    reply: SwapMarket,
    errors: ['validation_failed', 'symbol_not_found'],
    handle: (ctx, caller, { query }) => readMarket(ctx, caller, query),
  }),
  partnerRoute('swaps:read', {
    method: 'GET',
    path: '/v1/tokenized/swap/orders',
    operationId: 'listTokenizedSwapOrders',
    summary: 'List orders for tokenized assets',
    description:
      "Lists orders for which a transaction was issued: with a user token, the orders of that user; with a partner token, the orders of all the partner's users. An order becomes `executed` or `expired` once final blocks of the chain show that outcome.",
    query: PageQuery,
    reply: SwapOrderList,
    handle: (ctx, caller, { query }) => readOrders(ctx, caller, query),
  }),
  userRoute('swaps:write', {
    method: 'POST',
    path: '/v1/tokenized/swap/transaction',
    operationId: 'encodeTokenizedSwap',
    summary: 'Create a purchase transaction for the wallet to sign and send',
    description:
      'Call it once each time the user confirms, with an `Idempotency-Key`. Do not poll it: each call uses up an attestation, and the transaction expires. The wallet must first approve the swap contract for the full amount. Buys only.',
    body: NewTransaction,
    reply: SwapTransaction,
    limit: 'tokenized_transaction',
    errors: [
      ...['validation_failed', 'chain_not_supported', 'offer_ended', 'offer_not_started'],
      ...[
        'requirements_not_met',
        'wallet_not_proven',
        'wallet_sanctioned',
        'order_outstanding',
        'fee_changed',
        'insufficient_balance',
      ],
      ...['insufficient_allowance', 'allow_list_external', 'contract_not_found', 'contract_reverted'],
      ...refusals,
    ] as ErrorCode[],
    recheck: (ctx, caller, { body }) => assertMayReplay(ctx, caller, body),
    handle: (ctx, caller, { body, request }) => {
      const key = request.headers['idempotency-key'];
      return encodeTransaction(ctx, caller, body, key === undefined ? undefined : readIdempotencyKey(key));
    },
  }),
];
