import { formatUnits } from 'viem/utils';
import type { Caller } from '../../kernel/access.ts';
import { ApiError, invalidField } from '../../kernel/errors.ts';
import type { Context } from '../../platform/context/context.ts';
import type { IndicativeQuote, Order } from '../../platform/providers/venue.ts';
import { findOfferBySymbol } from '../offers/offer.ts';
import { orRefuse } from './refusal.ts';
import type { QuoteQuery, SwapQuote } from './schema.ts';

/** Caches the reply for each cached quote, so that callers who get the same quote share the reply. */
const replies = new WeakMap<IndicativeQuote, SwapQuote>();

/** Returns an indicative quote, synchronously if cached. Does not use up an attestation. */
export function quoteSwap(ctx: Context, caller: Caller, query: QuoteQuery): SwapQuote | Promise<SwapQuote> {
  const order = toOrder(query);
  const offer = findOfferBySymbol(ctx, caller, query.symbol);
  if (offer instanceof Promise) return offer.then(() => requestQuote(ctx, query, order));
  return requestQuote(ctx, query, order);
}

function requestQuote(
  { venue, log }: Context,
  query: QuoteQuery,
  order: Order,
): SwapQuote | Promise<SwapQuote> {
  const quote = venue.quote(order);
  const decimals = venue.decimals(query.symbol);
  if (!(quote instanceof Promise) && typeof decimals === 'number') return toReply(quote, decimals);
  const amountField = query.token_amount === undefined ? 'notional_value' : 'token_amount';
  const reply = Promise.all([quote, decimals]).then((parts) => toReply(...parts));
  return orRefuse({ venue, log }, query.symbol, reply, amountField);
}

function toReply(quote: IndicativeQuote, decimals: number): SwapQuote {
  const cached = replies.get(quote);
  if (cached !== undefined) return cached;
  const reply: SwapQuote = {
    object: 'tokenized_swap_quote',
    chain_id: quote.chainId,
    symbol: quote.symbol,
    ticker: quote.ticker,
    asset_address: quote.assetAddress,
    asset_decimals: decimals,
    side: quote.side,
    token_base_units: quote.quantity.toString(),
    price: formatUnits(quote.price, 18),
  };
  replies.set(quote, reply);
  return reply;
}

function toOrder({ symbol, side, token_amount, notional_value, duration }: QuoteQuery): Order {
  if (token_amount !== undefined && notional_value !== undefined) {
    const message = 'only one of token_amount and notional_value is allowed';
    throw new ApiError('validation_failed', { token_amount: [message], notional_value: [message] });
  }
  if (token_amount !== undefined)
    return { symbol, side, duration, tokenAmount: requirePositive('token_amount', token_amount) };
  if (notional_value !== undefined)
    return { symbol, side, duration, notionalValue: requirePositive('notional_value', notional_value) };
  throw invalidField('notional_value', 'either token_amount or notional_value is required');
}

function requirePositive(field: string, text: string): string {
  if (!/[1-9]/.test(text)) throw invalidField(field, 'must be greater than 0');
  return text;
}
