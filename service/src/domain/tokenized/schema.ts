import Type, { type Static } from 'typebox';
import { List } from '../../kernel/paging.ts';
import {
  Closed,
  Decimal,
  EvmAddress,
  EvmChain,
  Nullable,
  ObjectName,
  Timestamp,
  Uint256,
} from '../../kernel/wire.ts';
import type { MarketStatus } from '../../platform/providers/venue.ts';

const Side = Type.Enum(['buy', 'sell']);
const AssetSymbol = Type.String({ minLength: 1, maxLength: 32, examples: ['AAPLon'] });

export const QuoteQuery = Type.Object({
  symbol: AssetSymbol,
  side: Side,
  token_amount: Type.Optional(Decimal),
  notional_value: Type.Optional(Decimal),
  duration: Type.Optional(Type.Enum(['short', 'long'])),
});
export type QuoteQuery = Static<typeof QuoteQuery>;

export const SwapQuote = Closed(
  {
    object: ObjectName('tokenized_swap_quote'),
    chain_id: Type.String({ examples: ['1'] }),
    symbol: Type.String(),
    ticker: Type.String(),
    asset_address: EvmAddress,
    asset_decimals: Type.Integer(),
    side: Side,
    token_base_units: Uint256,
    price: Decimal,
  },
  { title: 'TokenizedSwapQuote' },
);
export type SwapQuote = Static<typeof SwapQuote>;

export const StatusQuery = Type.Object({ symbol: AssetSymbol, side: Side });
export type StatusQuery = Static<typeof StatusQuery>;

export const TradingStatus = Closed(
  {
    object: ObjectName('tokenized_swap_trading_status'),
    side: Side,
    tradable: Type.Boolean(),
    gross_max_notional_value: Nullable(Decimal),
    gross_max_tokens: Nullable(Decimal),
    gross_max_active_notional_value: Nullable(Decimal),
  },
  { title: 'TokenizedSwapTradingStatus' },
);
export type TradingStatus = Static<typeof TradingStatus>;

const PRICE_RANGES = ['1d', '1w', '1m', '1y'] as const;
export type PriceRange = (typeof PRICE_RANGES)[number];

export const MarketQuery = Type.Object({
  symbol: AssetSymbol,
  range: Type.Optional(Type.Enum([...PRICE_RANGES], { default: '1d' })),
});
export type MarketQuery = Static<typeof MarketQuery>;

const MarketPrice = Closed(
  { object: ObjectName('tokenized_swap_price'), price: Decimal, recorded_at: Timestamp },
  { title: 'TokenizedSwapPrice' },
);

/** Not a union of an enum and null, because the serializer would try each alternative of a union. */
const MarketSession = Type.Unsafe<MarketStatus | null>({
  type: ['string', 'null'],
  enum: ['premarket', 'regular', 'postmarket', 'overnight', 'offhours', 'paused', 'closed', null],
});

export const SwapMarket = Closed(
  {
    object: ObjectName('tokenized_swap_market'),
    symbol: Type.String(),
    is_open: Nullable(Type.Boolean()),
    session: MarketSession,
    opens_at: Nullable(Timestamp),
    closes_at: Nullable(Timestamp),
    previous_close: Nullable(Decimal),
    prices: Closed({ object: ObjectName('list'), data: Type.Array(MarketPrice) }),
  },
  { title: 'TokenizedSwapMarket' },
);
export type SwapMarket = Static<typeof SwapMarket>;

export const NewTransaction = Closed({
  amount: Uint256,
  chain: EvmChain,
  symbol: AssetSymbol,
  wallet_address: EvmAddress,
});
export type NewTransaction = Static<typeof NewTransaction>;

export const SwapOrder = Closed(
  {
    object: ObjectName('tokenized_swap_order'),
    id: Type.String(),
    symbol: Type.String(),
    side: Side,
    chain: EvmChain,
    wallet_address: EvmAddress,
    amount: Uint256,
    fee: Uint256,
    notional_value: Uint256,
    receive_output_amount: Uint256,
    status: Type.Enum(['issued', 'executed', 'expired']),
    transaction_hash: Nullable(Type.String()),
    expires_at: Timestamp,
    inserted_at: Timestamp,
  },
  { title: 'TokenizedSwapOrder' },
);
export type SwapOrder = Static<typeof SwapOrder>;
export const SwapOrderList = List(SwapOrder, 'TokenizedSwapOrders');

export const SwapTransaction = Closed(
  {
    object: ObjectName('tokenized_swap_transaction'),
    action: Type.Literal('broadcast_transaction'),
    data: Type.String(),
    to: EvmAddress,
    expires_at: Timestamp,
    pay_input_amount: Uint256,
    fee: Uint256,
    notional_value: Uint256,
    pay_input_decimals: Type.Integer(),
    receive_output_amount: Uint256,
    receive_output_decimals: Type.Integer(),
  },
  { title: 'TokenizedSwapTransaction' },
);
export type SwapTransaction = Static<typeof SwapTransaction>;
