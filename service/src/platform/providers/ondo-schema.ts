import Type, { type Static } from 'typebox';

/**
 * The fields of the venue's responses that we use. Unknown members are allowed, because the venue adds new
 * ones without notice.
 */

const Integer = Type.String({ pattern: '^[0-9]{1,78}$' });
const Decimal = Type.String({ pattern: '^[0-9]{1,60}(\\.[0-9]{1,18})?$' });
const Address = Type.String({ pattern: '^0x[0-9a-fA-F]{40}$' });
const SideCode = Type.Enum(['0', '1']);

const quoted = {
  chainId: Type.String(),
  symbol: Type.String(),
  ticker: Type.String(),
  assetAddress: Address,
  side: SideCode,
  tokenAmount: Integer,
  price: Integer,
};

export const SoftQuote = Type.Object(quoted);

export const FirmQuote = Type.Object({
  ...quoted,
  attestationId: Integer,
  userId: Type.String({ pattern: '^0x[0-9a-fA-F]{1,64}$' }),
  /** This time is in epoch seconds, unlike the other times in this API. */
  expiration: Type.Integer({ minimum: 1 }),
  signature: Type.String({ pattern: '^[A-Za-z0-9+/]{86,88}={0,2}$' }),
  additionalData: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9+/]{0,44}={0,2}$' })),
});
export type FirmQuote = Static<typeof FirmQuote>;

export const Failure = Type.Object({ code: Type.String() });

export const TradingLimitsReply = Type.Object({
  maxTokens: Decimal,
  maxNotionalValue: Decimal,
  remainingAttestations: Integer,
  isAssetTradingOpen: Type.Boolean(),
  reason: Type.Optional(Type.Object({ code: Type.String() })),
});

const SessionBlock = Type.Object({ tradable: Type.Boolean(), maxActiveNotionalValue: Decimal });

const SessionLimits = Type.Object({
  limits: Type.Array(
    Type.Object({
      symbol: Type.String(),
      premarket: Type.Optional(SessionBlock),
      regular: Type.Optional(SessionBlock),
      postmarket: Type.Optional(SessionBlock),
      overnight: Type.Optional(SessionBlock),
      offhours: Type.Optional(SessionBlock),
    }),
  ),
});

/** The vendor's documentation shows the response both as one object and as a list. */
export const SessionLimitsReply = Type.Union([SessionLimits, Type.Array(SessionLimits)]);

const Time = Type.Optional(Type.Unsafe<string | null>({ type: ['string', 'null'] }));

export const MarketReply = Type.Object({
  marketStatus: Type.String(),
  nextOpen: Time,
  nextClose: Time,
  offhours: Type.Optional(Type.Object({ isOpen: Type.Boolean(), nextOpen: Time, nextClose: Time })),
});

/** Restrictions on assets. The status `active` means that the restriction applies, not that the asset can be traded. */
export const AssetEvents = Type.Array(
  Type.Object({
    symbol: Type.String(),
    status: Type.String(),
    reason: Type.Optional(Type.Object({ code: Type.String() })),
    end: Time,
  }),
);

export const Addresses = Type.Array(
  Type.Object({ networkChainId: Type.String(), decimals: Type.Integer({ minimum: 0, maximum: 255 }) }),
);
