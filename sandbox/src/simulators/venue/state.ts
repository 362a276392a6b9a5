import { randomBytes } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MarketStatus } from './calendar.ts';

/** What an operator of the sandbox has set for an asset; null = as it came. */
export type AssetSetting = {
  paused: boolean;
  redeem_only: boolean;
  price: string | null;
  max_notional: string | null;
};

/** An attestation that may still be executed; money scaled 1e18. */
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
  /** Null = by the calendar. */
  session: MarketStatus | null;
  assets: Record<string, AssetSetting>;
  /** How many were ever given. */
  attestations: number;
  live: LiveAttestation[];
  /** What was executed in a session, per symbol. */
  executed: { session: string; symbol: string; notional: string }[];
};

export type VenueStore = { state: VenueState; save(): void };

/** Kept in a file, so that a restart neither forgets a setting nor gives a limit back. */
export function openVenueState(folder: string): VenueStore {
  const path = join(folder, 'state.json');
  const state = read(path) ?? {
    seed: randomBytes(8).toString('hex'),
    api_key: randomBytes(24).toString('base64url'),
    session: null,
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

function read(path: string): VenueState | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as VenueState;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
