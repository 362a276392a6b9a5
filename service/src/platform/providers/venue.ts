import type { QuoteTuple } from '@causeway/contracts/encodings/tokenized-order.ts';
import type { Hex } from 'viem';

/**
 * Amounts and prices are integers scaled by 10^18, except in `OrderSize`. Times are epoch milliseconds, except
 * `Attestation.expiration`, which is in seconds.
 */

export type Side = 'buy' | 'sell';
type Duration = 'short' | 'long';
export type Session = 'premarket' | 'regular' | 'postmarket' | 'overnight' | 'offhours';
export type MarketStatus = Session | 'paused' | 'closed';

type OrderSize = { tokenAmount: string } | { notionalValue: string };

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

/** A quote signed by the venue, valid for one trade until `expiration`. */
export type Attestation = QuoteTuple & { side: 0 | 1; signature: Hex };

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
  nextClose: number | null;
  offhours: { isOpen: boolean; nextOpen: number | null; nextClose: number | null };
};

/** An asset that the venue has paused. `until` is null if the end of the pause is not announced. */
type AssetPause = { symbol: string; until: number | null };

export type Venue = {
  /** Returns an indicative quote. The call has no rate limit, and the quote may be cached. */
  quote(order: Order): Promise<IndicativeQuote>;
  /**
   * Counts towards the venue's limit. If there is no response, do not retry: the venue may have issued the
   * attestation.
   */
  attest(chainId: number, order: Order): Promise<Attestation>;
  tradingLimits(symbol: string, side: Side): Promise<TradingLimits>;
  sessionLimits(symbol: string): Promise<Partial<Record<Session, SessionLimit>>>;
  marketState(): Promise<MarketState>;
  assetPauses(): Promise<AssetPause[]>;
  /** Returns the decimals of the asset's contract on the chain to which quotes refer. */
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

/** The venue rejects our account or request: nothing was attested, and the market state is unknown. */
export class VenueAccountError extends Error {}

/** Thrown if the venue refuses the order. Nothing was attested. */
export class VenueRefusal extends Error {
  readonly kind: RefusalKind;
  readonly code: string;
  constructor(kind: RefusalKind, code: string) {
    super(`the venue refused: ${code}`);
    this.name = 'VenueRefusal';
    this.kind = kind;
    this.code = code;
  }
}
