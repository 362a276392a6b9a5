import type { DeployedAsset } from '../chains/deploy-venue.ts';
import type { CalendarMoment, MarketStatus, Session } from './calendar.ts';
import { createCalendar } from './calendar.ts';
import { parseScaled } from './decimals.ts';
import { midPrice, type Side } from './prices.ts';
import type { AssetSetting, VenueStore } from './state.ts';

/** An error from the venue's API. */
export class VenueError extends Error {
  readonly status: number;
  readonly code: string;
  constructor(status: number, code: string, message = code.toLowerCase().replaceAll('_', ' ')) {
    super(message);
    this.name = 'VenueError';
    this.status = status;
    this.code = code;
  }
}

export type MarketNow = {
  status: MarketStatus;
  /** Identifies the current session. The total value of executed attestations is limited per session. */
  session: string;
  /** Null while the status is set through the sandbox, because the next session is then unknown. */
  moment: CalendarMoment | null;
};

export type Limits = { maxTokens: bigint; maxNotional: bigint; remaining: number };

export type Market = {
  now(): MarketNow;
  asset(symbol: unknown): DeployedAsset;
  setting(symbol: string): AssetSetting;
  mid(asset: DeployedAsset): bigint;
  /** Returns why the asset cannot be traded now, or null if it can be traded. */
  findRefusal(asset: DeployedAsset, side: Side): VenueError | null;
  limits(asset: DeployedAsset, price: bigint): Limits;
  sessionLimit(symbol: string, session: Session): SessionLimit;
  sessionsOf(symbol: string): Session[];
};

export type SessionLimit = { tradable: boolean; maxAttestationCount: number; maxActiveNotional: bigint };

const UNIT = 10n ** 18n;
const MAX_ATTESTATIONS = 500;
const MAX_ACTIVE_NOTIONAL: Record<Session, bigint> = {
  premarket: 10_000n * UNIT,
  regular: 200_000n * UNIT,
  postmarket: 200_000n * UNIT,
  overnight: 200_000n * UNIT,
  offhours: 20_000n * UNIT,
};
const MAX_NOTIONAL_PER_SESSION = 2_000_000n * UNIT;
const CONVENTIONAL_SESSIONS: Session[] = ['premarket', 'regular', 'postmarket', 'overnight'];
/** Assets that also trade outside the conventional sessions. */
const OFFHOURS_SYMBOLS = new Set(['TSLAon']);

export const UNSET: AssetSetting = { paused: false, redeem_only: false, price: null, max_notional: null };

/** The market's rules: which assets can be traded, when, and up to which limits. */
export function createMarket(
  { state }: Pick<VenueStore, 'state'>,
  assets: DeployedAsset[],
  now: () => number,
): Market {
  const calendar = createCalendar();
  const setting = (symbol: string) => state.assets[symbol] ?? UNSET;
  const sessionsOf = (symbol: string) =>
    OFFHOURS_SYMBOLS.has(symbol) ? [...CONVENTIONAL_SESSIONS, 'offhours' as const] : CONVENTIONAL_SESSIONS;

  const market: Market = {
    now: () => {
      const moment = calendar(now());
      if (state.session === null)
        return { status: moment.status, session: `${moment.status} ${moment.since}`, moment };
      return { status: state.session, session: `${state.session} by hand`, moment: null };
    },
    asset: (symbol) => {
      if (typeof symbol !== 'string' || symbol === '') throw new VenueError(400, 'MISSING_SYMBOL');
      if (symbol.length < 3 || !symbol.endsWith('on')) throw new VenueError(400, 'INVALID_SYMBOL');
      const found = assets.find((each) => each.symbol === symbol);
      if (found === undefined) throw new VenueError(404, 'ASSET_NOT_FOUND');
      return found;
    },
    setting,
    mid: ({ symbol, price }) => {
      // A price that was set by hand does not move.
      return parseScaled(setting(symbol).price) ?? midPrice(state.seed, symbol, BigInt(price), now());
    },
    findRefusal: ({ symbol }, side) => {
      const { status } = market.now();
      if (status === 'closed') return new VenueError(403, 'MARKET_CLOSED');
      if (status === 'paused') return new VenueError(403, 'MARKET_PAUSED');
      if (status === 'offhours' && !sessionsOf(symbol).includes('offhours'))
        return new VenueError(403, 'MARKET_CLOSED');
      if (setting(symbol).paused) return new VenueError(403, 'ASSET_PAUSED');
      if (setting(symbol).redeem_only && side === 'buy') return new VenueError(403, 'ASSET_REDEEM_ONLY');
      return null;
    },
    sessionsOf,
    sessionLimit: (symbol, session) => {
      const tradable = sessionsOf(symbol).includes(session);
      const configured = parseScaled(setting(symbol).max_notional);
      return {
        tradable,
        maxAttestationCount: tradable ? MAX_ATTESTATIONS : 0,
        maxActiveNotional: tradable ? (configured ?? MAX_ACTIVE_NOTIONAL[session]) : 0n,
      };
    },
    limits: ({ symbol }, price) => {
      const { status, session, moment } = market.now();
      if (status === 'paused') return { maxTokens: 0n, maxNotional: 0n, remaining: 0 };
      // Outside an asset's trading sessions, the limits of the market's next session apply.
      const isOpen = status !== 'closed' && sessionsOf(symbol).includes(status);
      const limited = isOpen ? status : (moment?.next.name ?? 'regular');
      const { maxActiveNotional, maxAttestationCount } = market.sessionLimit(symbol, limited);
      const live = state.live.filter((each) => each.symbol === symbol);
      const active = live.reduce((sum, { notional }) => sum + BigInt(notional), 0n);
      const executed = state.executed
        .filter((each) => each.symbol === symbol && each.session === session)
        .reduce((sum, { notional }) => sum + BigInt(notional), 0n);
      const available = min(maxActiveNotional - active, MAX_NOTIONAL_PER_SESSION - executed);
      const remaining = Math.max(0, maxAttestationCount - live.length);
      const maxNotional = available > 0n && remaining > 0 ? available : 0n;
      return { maxNotional, maxTokens: (maxNotional * UNIT) / price, remaining };
    },
  };
  return market;
}

function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
