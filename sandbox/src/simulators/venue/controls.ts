import Type from 'typebox';
import { type Control, ControlError } from '../control.ts';
import { type Fault, FaultInput, type FaultMode } from '../fault.ts';
import type { MarketStatus } from './calendar.ts';
import { parseScaled } from './decimals.ts';
import type { PastPrice } from './history.ts';
import { UNSET } from './market.ts';
import type { AssetSetting, VenueStore } from './state.ts';

export const MARKET_STATUSES = [
  'regular',
  'premarket',
  'postmarket',
  'overnight',
  'offhours',
  'paused',
  'closed',
] as const satisfies MarketStatus[];

export type VenueSetting = {
  session?: MarketStatus | null;
  assets?: Record<string, Partial<AssetSetting>>;
};

/**
 * The venue's settings. If `session` is null, the market follows the calendar. `attestations` counts all attestations
 * ever issued.
 */
export type VenueView = {
  session: MarketStatus | null;
  assets: Record<string, AssetSetting>;
  attestations: number;
};

export type VenueControls = {
  'venue/set': { input: VenueSetting; output: VenueView };
  /**
   * Makes the market follow the calendar. (By default, the market is always open.) Does nothing if `venue/set` has set
   * the session.
   */
  'venue/calendar': { input: Record<string, never>; output: Record<string, never> };
  /** Returns the prices of the past year, for a service that has not recorded any prices yet. */
  'venue/history': { input: Record<string, never>; output: { prices: PastPrice[] } };
  'venue/fault': { input: { mode: FaultMode; for_seconds?: number }; output: Record<string, never> };
};

const SetVenue = Type.Object({
  session: Type.Optional(Type.Union([Type.Null(), Type.Enum([...MARKET_STATUSES])])),
  assets: Type.Optional(Type.Record(Type.String(), Type.Object({}))),
});

type Parts = {
  store: VenueStore;
  fault: Fault;
  symbols: string[];
  readPast(): PastPrice[];
  /**
   * Posts a price to the oracle contract, which then rejects quotes far from that price. If `price` is null, posts the
   * asset's reference price.
   */
  postPrice(symbol: string, price: bigint | null): Promise<void>;
};

export function addVenueControls(
  control: Control,
  { store, fault, symbols, readPast, postPrice }: Parts,
): void {
  const { state, save } = store;
  control.on('venue/set', SetVenue, async (input) => {
    const { session, assets = {} } = input as VenueSetting;
    for (const [symbol, setting] of Object.entries(assets)) validateSetting(symbol, setting, symbols);
    for (const [symbol, { price }] of Object.entries(assets))
      if (price !== undefined) await postPrice(symbol, price === null ? null : parseScaled(price));
    if (session !== undefined) Object.assign(state, { session, is_default: false });
    for (const [symbol, setting] of Object.entries(assets))
      state.assets[symbol] = { ...(state.assets[symbol] ?? UNSET), ...setting };
    save();
    return toView(store, symbols);
  });
  control.on('venue/calendar', Type.Object({}), async () => {
    if (state.is_default) Object.assign(state, { session: null, is_default: false });
    save();
    return {};
  });
  control.on('venue/history', Type.Object({}), async () => ({ prices: readPast() }));
  control.on('venue/fault', FaultInput, async ({ mode, for_seconds }) => {
    fault.set(mode, for_seconds);
    return {};
  });
}

function toView({ state }: VenueStore, symbols: string[]): VenueView {
  const assets = Object.fromEntries(symbols.map((symbol) => [symbol, state.assets[symbol] ?? UNSET]));
  return { session: state.session, assets, attestations: state.attestations };
}

function validateSetting(symbol: string, setting: Partial<AssetSetting>, symbols: string[]): void {
  const invalid = (field: string, message: string) =>
    new ControlError('validation_failed', message, { [field]: [message] });
  if (!symbols.includes(symbol)) throw invalid(`assets.${symbol}`, `must be one of ${symbols.join(', ')}`);
  for (const field of ['price', 'max_notional'] as const) {
    const value = setting[field];
    if (value == null) continue;
    const scaled = parseScaled(value);
    if (scaled === null || (field === 'price' && scaled === 0n))
      throw invalid(`assets.${symbol}.${field}`, 'must be a decimal number with at most 18 fraction digits');
  }
}
