import type { Registry } from 'prom-client';
import Type, { type Static, type TSchema } from 'typebox';
import type { Hex } from 'viem';
import { bytesToHex, padHex, parseUnits } from 'viem/utils';
import type { VenueSettings } from '../../kernel/config/provider-settings.ts';
import { ApiError } from '../../kernel/errors.ts';
import { isValid } from '../../kernel/validation.ts';
import { invalidResponse, UpstreamFailure, upstreamError } from '../outbound/failure.ts';
import { openUpstream, parseBody, type UpstreamReply, type UpstreamRequest } from '../outbound/upstream.ts';
import {
  type Attestation,
  type MarketStatus,
  type Order,
  type RefusalKind,
  type Side,
  type Venue,
  VenueAccountError,
  VenueRefusal,
} from './venue.ts';

/** Unknown members are allowed, because the venue adds new ones without notice. */

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

const SoftQuote = Type.Object(quoted);

const FirmQuote = Type.Object({
  ...quoted,
  attestationId: Integer,
  userId: Type.String({ pattern: '^0x[0-9a-fA-F]{1,64}$' }),
  /** This time is in epoch seconds, unlike the other times in this API. */
  expiration: Type.Integer({ minimum: 1 }),
  signature: Type.String({ pattern: '^[A-Za-z0-9+/]{86,88}={0,2}$' }),
  additionalData: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9+/]{0,44}={0,2}$' })),
});
type FirmQuote = Static<typeof FirmQuote>;

const Failure = Type.Object({ code: Type.String() });

const TradingLimitsReply = Type.Object({
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
const SessionLimitsReply = Type.Union([SessionLimits, Type.Array(SessionLimits)]);

const Time = Type.Optional(Type.Unsafe<string | null>({ type: ['string', 'null'] }));

const MarketReply = Type.Object({
  marketStatus: Type.String(),
  nextOpen: Time,
  nextClose: Time,
  offhours: Type.Optional(Type.Object({ isOpen: Type.Boolean(), nextOpen: Time, nextClose: Time })),
});

/** Restrictions on assets. The status `active` means that the restriction applies, not that the asset can be traded. */
const AssetEvents = Type.Array(
  Type.Object({
    symbol: Type.String(),
    status: Type.String(),
    reason: Type.Optional(Type.Object({ code: Type.String() })),
    end: Time,
  }),
);

const Addresses = Type.Array(
  Type.Object({ networkChainId: Type.String(), decimals: Type.Integer({ minimum: 0, maximum: 255 }) }),
);

/** Null if the text is not a plain decimal or has more than `digits` decimals. */
export function parseDecimal(text: string, digits: number): bigint | null {
  const match = /^\d{1,78}(?:\.(\d{1,78}))?$/.exec(text);
  const [, fraction = ''] = match ?? [];
  if (match === null || /[1-9]/.test(fraction.slice(digits))) return null;
  return parseUnits(text, digits);
}

const UPSTREAM = 'venue';
const TIMEOUT_MS = 5_000;
/** The only chain for which the venue returns indicative prices. */
const PRICED_CHAIN = 'ethereum-1';
const SIDES = { '0': 'buy', '1': 'sell' } as const;

const STATUSES: MarketStatus[] = [
  ...(['regular', 'premarket', 'postmarket', 'overnight', 'offhours'] as const),
  ...(['paused', 'closed'] as const),
];

const KINDS: Record<string, RefusalKind> = {
  MARKET_CLOSED: 'market_closed',
  ASSET_CLOSED_FOR_SESSION: 'market_closed',
  MARKET_PAUSED: 'market_paused',
  ASSET_PAUSED: 'asset_paused',
  ASSET_REDEEM_ONLY: 'side_not_allowed',
  MAX_LIMIT_REACHED: 'limit_reached',
  SESSION_LIMIT_REACHED: 'limit_reached',
  MAX_ATTESTATIONS: 'limit_reached',
  OFFHOURS_EXPOSURE_LIMIT_REACHED: 'limit_reached',
  INSUFFICIENT_LIQUIDITY: 'limit_reached',
  INVALID_NOTIONAL_VALUE: 'order_invalid',
  INVALID_TOKEN_AMOUNT: 'order_invalid',
  GAS_FEE_EXCEEDS_ORDER_VALUE: 'order_invalid',
  INVALID_SYMBOL: 'symbol_unknown',
  ASSET_NOT_FOUND: 'symbol_unknown',
};

/** Error codes about our account or configuration, which an operator has to fix. */
const ACCOUNT_ERRORS =
  /^(MISSING_API_KEY|INVALID_API_KEY|READ_ONLY_API_KEY|INVALID_ADDRESS|(INVALID|UNSUPPORTED|PAUSED)_GM_CHAIN)$/;

export function openOndo({ url, apiKey }: VenueSettings, registry?: Registry): Venue {
  const upstream = openUpstream({
    name: UPSTREAM,
    url,
    timeoutMs: TIMEOUT_MS,
    ...(registry && { registry }),
  });
  const headers = () => ({ 'x-api-key': apiKey });

  async function get<S extends TSchema>(path: string, schema: S): Promise<Static<S>> {
    return accept(await requestWithRetry({ method: 'GET', path, headers }), schema);
  }

  async function post<S extends TSchema>(path: string, order: object, schema: S, isRepeatable: boolean) {
    const body = JSON.stringify(order);
    const request = { method: 'POST', path, headers, body, isRepeatable } as const;
    return accept(await (isRepeatable ? requestWithRetry(request) : upstream.request(request)), schema);
  }

  /** Retries once after a 5xx response, because the venue recovers quickly. */
  async function requestWithRetry(request: UpstreamRequest): Promise<UpstreamReply> {
    const reply = await upstream.request(request);
    return reply.status >= 500 ? upstream.request(request) : reply;
  }

  return {
    quote: async (order) => {
      const body = { chainId: PRICED_CHAIN, ...order };
      const reply = await post('/v1/attestations/soft', body, SoftQuote, true);
      if (reply.chainId !== '1' || reply.symbol !== order.symbol || SIDES[reply.side] !== order.side)
        throw invalidResponse(UPSTREAM, 'quote does not match the order');
      return {
        chainId: reply.chainId,
        symbol: reply.symbol,
        ticker: reply.ticker,
        assetAddress: reply.assetAddress.toLowerCase() as Hex,
        side: SIDES[reply.side],
        quantity: BigInt(reply.tokenAmount),
        price: BigInt(reply.price),
      };
    },
    attest: async (chainId, order) => {
      const body = { chainId: `ethereum-${chainId}`, ...order };
      return readAttestation(await post('/v1/attestations', body, FirmQuote, false), chainId, order);
    },
    tradingLimits: async (symbol, side) => {
      const query = `symbol=${encodeURIComponent(symbol)}&side=${side}`;
      return readLimits(() => get(`/v1/limits/trading?${query}`, TradingLimitsReply));
    },
    sessionLimits: async (symbol) => {
      const path = `/v1/limits/session?symbol=${encodeURIComponent(symbol)}`;
      const limits = [await get(path, SessionLimitsReply)].flat().flatMap((reply) => reply.limits);
      const { symbol: _, ...sessions } = limits.find((limit) => limit.symbol === symbol) ?? { symbol };
      return Object.fromEntries(
        Object.entries(sessions as Record<string, { tradable: boolean; maxActiveNotionalValue: string }>).map(
          ([session, { tradable, maxActiveNotionalValue }]) => [
            session,
            { tradable, maxActiveNotional: toScaled(maxActiveNotionalValue) },
          ],
        ),
      );
    },
    marketState: async () => {
      const { marketStatus, nextOpen, nextClose, offhours } = await get('/v1/status/market', MarketReply);
      const status = STATUSES.find((known) => known === marketStatus) ?? 'closed';
      return {
        // At weekends, the venue may report a closed market although off-hours trading is open.
        status: status === 'closed' && offhours?.isOpen ? 'offhours' : status,
        nextOpen: readTime(nextOpen),
        nextClose: readTime(nextClose),
        offhours: {
          isOpen: offhours?.isOpen ?? false,
          nextOpen: readTime(offhours?.nextOpen),
          nextClose: readTime(offhours?.nextClose),
        },
      };
    },
    assetPauses: async () => {
      const events = await get('/v1/status/assets', AssetEvents);
      return events
        .filter(({ status, reason }) => status === 'active' && reason?.code !== 'ASSET_LIMITED')
        .map(({ symbol, end }) => ({ symbol, until: readTime(end) }));
    },
    decimals: async (symbol) => {
      const addresses = await get(`/v1/assets/${encodeURIComponent(symbol)}/addresses`, Addresses);
      const found = addresses.find(({ networkChainId }) => [PRICED_CHAIN, '1'].includes(networkChainId));
      if (found === undefined) throw invalidResponse(UPSTREAM, 'asset without an address');
      return found.decimals;
    },
    close: () => upstream.close(),
  };
}

function accept<S extends TSchema>({ status, body }: UpstreamReply, schema: S): Static<S> {
  if (status >= 200 && status < 300) return parseBody(UPSTREAM, schema, body);
  if (status >= 500) throw upstreamError(UPSTREAM, new UpstreamFailure('no_response', `HTTP ${status}`));
  const code = isValid(Failure, body) ? (body as Static<typeof Failure>).code : null;
  // The venue's gateway answers a wrong API key without an error code. That is an account error, not a refused order.
  if (code === null || status === 401 || ACCOUNT_ERRORS.test(code)) throw accountError(status, code);
  throw toRefusal(code, status);
}

/** An unknown code with status 403 counts as a paused asset, any other one as an error in our account or request. */
function toRefusal(code: string, status: number): Error {
  const kind = KINDS[code] ?? (status === 403 ? 'asset_paused' : undefined);
  return kind === undefined ? accountError(status, code) : new VenueRefusal(kind, code);
}

function accountError(status: number, code: string | null): ApiError {
  const cause = new VenueAccountError(
    `the venue rejected our account or request: HTTP ${status} ${code ?? ''}`,
  );
  return new ApiError('upstream_error', { upstream: UPSTREAM }, { cause });
}

async function readLimits(request: () => Promise<Static<typeof TradingLimitsReply>>) {
  try {
    const { isAssetTradingOpen, maxTokens, maxNotionalValue, remainingAttestations, reason } =
      await request();
    const refusal = isAssetTradingOpen
      ? null
      : new VenueRefusal(KINDS[reason?.code ?? ''] ?? 'asset_paused', reason?.code ?? 'UNKNOWN');
    return {
      isOpen: isAssetTradingOpen,
      maxTokens: toScaled(maxTokens),
      maxNotional: toScaled(maxNotionalValue),
      remainingAttestations: BigInt(remainingAttestations),
      refusal,
    };
  } catch (error) {
    // Some refusals are part of the limits, others an error response. Callers get both in the same form.
    if (!(error instanceof VenueRefusal) || error.kind === 'symbol_unknown') throw error;
    return { isOpen: false, maxTokens: 0n, maxNotional: 0n, remainingAttestations: 0n, refusal: error };
  }
}

function readAttestation(reply: FirmQuote, chainId: number, order: Order): Attestation {
  const side: Side = SIDES[reply.side];
  if (reply.chainId !== String(chainId) || reply.symbol !== order.symbol || side !== order.side)
    throw invalidResponse(UPSTREAM, 'attestation does not match the order');
  const signature = Buffer.from(reply.signature, 'base64');
  const extra = Buffer.from(reply.additionalData ?? '', 'base64');
  if (signature.length !== 65 || extra.length > 32) throw invalidResponse(UPSTREAM, 'malformed attestation');
  return {
    chainId: BigInt(reply.chainId),
    attestationId: BigInt(reply.attestationId),
    // The id is text. A bytes32 holds text in its first bytes, so the padding goes on the right.
    userId: padHex(reply.userId.toLowerCase() as Hex, { dir: 'right', size: 32 }),
    asset: reply.assetAddress.toLowerCase() as Hex,
    price: BigInt(reply.price),
    quantity: BigInt(reply.tokenAmount),
    expiration: BigInt(reply.expiration),
    side: side === 'buy' ? 0 : 1,
    additionalData: padHex(bytesToHex(extra), { dir: 'right', size: 32 }),
    signature: bytesToHex(signature),
  };
}

function toScaled(text: string): bigint {
  const value = parseDecimal(text, 18);
  if (value === null) throw invalidResponse(UPSTREAM, 'malformed number');
  return value;
}

function readTime(text: string | null | undefined): number | null {
  const time = Date.parse(text ?? '');
  return Number.isNaN(time) ? null : time;
}
