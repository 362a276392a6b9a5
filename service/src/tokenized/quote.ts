import type { Context } from '../context.ts';
import { ApiError, invalidField } from '../errors.ts';
import type { Caller } from '../http/access.ts';
import { findOfferBySymbol } from '../offers/offer.ts';
import { formatDecimal } from './decimal.ts';
import type { IndicativeQuote, Order } from './provider.ts';
import { orRefuse } from './refusal.ts';
import type { QuoteQuery, SwapQuote } from './schema.ts';

/** A quote that many share is written once. */
const written = new WeakMap<IndicativeQuote, SwapQuote>();

/** An indicative price for this size and side; spends nothing. At once when it is known. */
export function quoteSwap(ctx: Context, caller: Caller, query: QuoteQuery): SwapQuote | Promise<SwapQuote> {
  const order = toOrder(query);
  const offer = findOfferBySymbol(ctx, caller, query.symbol);
  if (offer instanceof Promise) return offer.then(() => askVenue(ctx, query, order));
  return askVenue(ctx, query, order);
}

function askVenue({ venue, log }: Context, query: QuoteQuery, order: Order): SwapQuote | Promise<SwapQuote> {
  const quote = venue.quote(order);
  const decimals = venue.decimals(query.symbol);
  if (!(quote instanceof Promise) && typeof decimals === 'number') return write(quote, decimals);
  const amountField = query.token_amount === undefined ? 'notional_value' : 'token_amount';
  const asked = Promise.all([quote, decimals]).then((answers) => write(...answers));
  return orRefuse({ venue, log }, query.symbol, asked, amountField);
}

function write(quote: IndicativeQuote, decimals: number): SwapQuote {
  const known = written.get(quote);
  if (known !== undefined) return known;
  const reply: SwapQuote = {
    object: 'tokenized_swap_quote',
    chain_id: quote.chainId,
    symbol: quote.symbol,
    ticker: quote.ticker,
    asset_address: quote.assetAddress,
    asset_decimals: decimals,
    side: quote.side,
    token_base_units: quote.quantity.toString(),
    price: formatDecimal(quote.price, 18),
  };
  written.set(quote, reply);
  return reply;
}

function toOrder({ symbol, side, token_amount, notional_value, duration }: QuoteQuery): Order {
  if (token_amount !== undefined && notional_value !== undefined) {
    const message = 'exactly one of token_amount and notional_value is allowed';
    throw new ApiError('validation_failed', { token_amount: [message], notional_value: [message] });
  }
  const kind = { symbol, side, ...(duration !== undefined && { duration }) };
  if (token_amount !== undefined) return { ...kind, tokenAmount: positive('token_amount', token_amount) };
  if (notional_value !== undefined)
    return { ...kind, notionalValue: positive('notional_value', notional_value) };
  throw invalidField('notional_value', 'exactly one of token_amount and notional_value is required');
}

function positive(field: string, text: string): string {
  if (!/[1-9]/.test(text)) throw invalidField(field, 'must be more than zero');
  return text;
}
