import type { Context } from '../context.ts';
import { ApiError, invalidField } from '../errors.ts';
import type { Caller } from '../http/access.ts';
import { findOfferOfSymbol } from '../offers/offer.ts';
import { formatDecimal } from './decimal.ts';
import type { Order } from './provider.ts';
import { orRefuse } from './refusal.ts';
import type { QuoteQuery, SwapQuote } from './schema.ts';

/** An indicative price for this size and side; spends nothing. */
export async function quoteSwap(ctx: Context, caller: Caller, query: QuoteQuery): Promise<SwapQuote> {
  const order = toOrder(query);
  await findOfferOfSymbol(ctx, caller, query.symbol);
  const amountField = query.token_amount === undefined ? 'notional_value' : 'token_amount';
  const asked = Promise.all([ctx.venue.quote(order), ctx.venue.decimals(query.symbol)]);
  const [quote, decimals] = await orRefuse(ctx, query.symbol, asked, amountField);
  return {
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
