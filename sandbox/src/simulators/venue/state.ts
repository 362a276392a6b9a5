import { randomBytes } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MarketStatus } from './calendar.ts';

/** An asset's settings, which can be changed through the sandbox. Null means that the venue's own value applies. */
export type AssetSetting = {
  paused: boolean;
  redeem_only: boolean;
  price: string | null;
  max_notional: string | null;
};

/** An attestation that may still be executed. `notional` is in dollars, scaled by 1e18. */
export type LiveAttestation = {
  id: string;
  symbol: string;
  notional: string;
  /** Seconds since the epoch. */
  expiration: number;
  session: string;
};

export type VenueState = {
  seed: string;
  api_key: string;
  /** The market session. If null, the market follows the calendar. */
  session: MarketStatus | null;
  /**
   * Whether `session` still has its default value, which keeps the market open at all times. Becomes false when a
   * sandbox control sets the session or makes the market follow the calendar.
   */
  is_default?: boolean;
  assets: Record<string, AssetSetting>;
  /** Counts all attestations ever issued. */
  attestations: number;
  live: LiveAttestation[];
  /** Executed attestations. They count towards the limit per session and symbol. */
  executed: { session: string; symbol: string; notional: string }[];
};

export type VenueStore = { state: VenueState; save(): void };

/** Opens the state file, so that settings and limit usage survive restarts. `save` writes the file synchronously. */
export function openVenueState(folder: string): VenueStore {
  const path = join(folder, 'state.json');
  const state = readState(path) ?? {
    seed: randomBytes(8).toString('hex'),
    api_key: randomBytes(24).toString('base64url'),
    session: 'regular',
    is_default: true,
    assets: {},
    attestations: 0,
    live: [],
    executed: [],
  };
  const save = () => {
    writeFileSync(`${path}.new`, JSON.stringify(state), { mode: 0o600 });
    renameSync(`${path}.new`, path);
  };
  save();
  return { state, save };
}

function readState(path: string): VenueState | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as VenueState;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
