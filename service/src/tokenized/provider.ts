import type { Hex } from 'viem';

/** The port to a pricing venue. Amounts and prices are integers scaled 1e18, times milliseconds unless they say more. */
export type Side = 'buy' | 'sell';
export type Duration = 'short' | 'long';
export type Session = 'premarket' | 'regular' | 'postmarket' | 'overnight' | 'offhours';
export type MarketStatus = Session | 'paused' | 'closed';

/** Decimal text with at most 18 fraction digits, passed on as it was written. */
export type OrderSize = { tokenAmount: string } | { notionalValue: string };

export type Order = { symbol: string; side: Side; duration?: Duration | undefined } & OrderSize;

export type IndicativeQuote = {
  chainId: string;
  symbol: string;
  ticker: string;
  assetAddress: Hex;
  side: Side;
  quantity: bigint;
  price: bigint;
};

/** A signed quote, good once and until `expiration`, in the venue's on-chain encodings. */
export type Attestation = {
  chainId: bigint;
  attestationId: bigint;
  userId: Hex;
  asset: Hex;
  price: bigint;
  quantity: bigint;
  /** Seconds since the epoch. */
  expiration: bigint;
  side: 0 | 1;
  additionalData: Hex;
  signature: Hex;
};

export type TradingLimits = {
  isOpen: boolean;
  maxTokens: bigint;
  maxNotional: bigint;
  remainingAttestations: bigint;
  refusal: VenueRefusal | null;
};

export type SessionLimit = { tradable: boolean; maxActiveNotional: bigint };

export type MarketState = {
  status: MarketStatus;
  nextOpen: number | null;
  offhours: { isOpen: boolean; nextOpen: number | null };
};

/** When a restriction of an asset that holds now ends; null when nobody has said. */
export type AssetPause = { symbol: string; until: number | null };

export type Venue = {
  /** Free of limits; what is asked again soon is answered with what is known. */
  quote(order: Order): Promise<IndicativeQuote>;
  /** Spends an attestation. Never repeated by the adapter: whoever gets no answer does not know. */
  attest(chainId: number, order: Order): Promise<Attestation>;
  tradingLimits(symbol: string, side: Side): Promise<TradingLimits>;
  sessionLimits(symbol: string): Promise<Partial<Record<Session, SessionLimit>>>;
  marketState(): Promise<MarketState>;
  assetPauses(): Promise<AssetPause[]>;
  /** Of the asset's contract on the chain that quotes are priced for. */
  decimals(symbol: string): Promise<number>;
  close(): Promise<void>;
};

export type RefusalKind =
  | 'market_closed'
  | 'market_paused'
  | 'asset_paused'
  | 'side_not_allowed'
  | 'limit_reached'
  | 'order_invalid'
  | 'symbol_unknown';

/** The venue does not accept our account or our way of asking: nothing was given, and nothing said of the market. */
export class VenueFault extends Error {}

/** The venue said no, and meant it: nothing was given. */
export class VenueRefusal extends Error {
  readonly kind: RefusalKind;
  /** The venue's own code. */
  readonly code: string;
  constructor(kind: RefusalKind, code: string) {
    super(`the venue refused: ${code}`);
    this.name = 'VenueRefusal';
    this.kind = kind;
    this.code = code;
  }
}
