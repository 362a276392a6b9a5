import { token } from '@causeway/contracts/abi/token.ts';
import { tokenizedSwap } from '@causeway/contracts/abi/tokenized-swap.ts';
import { venueConverter } from '@causeway/contracts/abi/venue-converter.ts';
import { venueHours } from '@causeway/contracts/abi/venue-hours.ts';
import { venueLimiter } from '@causeway/contracts/abi/venue-limiter.ts';
import { venueManager } from '@causeway/contracts/abi/venue-manager.ts';
import { venueOracle } from '@causeway/contracts/abi/venue-oracle.ts';
import { venueRegistry } from '@causeway/contracts/abi/venue-registry.ts';
import type { Hex } from 'viem';
import { keccak256, toHex } from 'viem/utils';
import { roles } from '../../seed/keys.ts';
import type { Planner } from './plan.ts';

export type DeployedAsset = {
  symbol: string;
  ticker: string;
  name: string;
  address: Hex;
  decimals: number;
  price: string;
};

/** The venue's contracts and the swap contract that trades with them. */
export type VenueDeployment = {
  swap: Hex;
  /** The EIP-712 domain name of `swap`. */
  domain_name: string;
  fee_bps: number;
  manager: Hex;
  oracle: Hex;
  hours: Hex;
  limiter: Hex;
  registry: Hex;
  converter: Hex;
  venue_dollar: Hex;
  /** The swap contract's user id in the venue's registry. */
  user_id: Hex;
  assets: DeployedAsset[];
};

const DOLLAR = 10n ** 18n;
const DOMAIN_NAME = 'Causeway';
const FEE_BPS = 50;
const USER_ID = keccak256(toHex('causeway sandbox partner'));
const SIGNER_ROLE = keccak256(toHex('ATTESTATION_SIGNER_ROLE'));
// Identifies the venue's market in the venue's user registry. Consists of the low 20 bytes of a hash.
const MARKET_ID: Hex = `0x${keccak256(toHex('global_markets')).slice(-40)}`;
/** The maximum age of a posted price. It is practically infinite, because a sandbox may be stopped for months. */
export const NEVER_STALE_SECONDS = 2 ** 32 - 1;
/** How far a quote may deviate from the posted price. */
export const MAX_PRICE_DEVIATION_BPS = 1_000;
const MINT_ROLE = 1n;
const CONVERT_ROLE = 1n;
const SPEND_ROLE = 1n;
const DAY_SECONDS = 86_400n;

const ASSETS = [
  { symbol: 'AAPLon', ticker: 'AAPL', name: 'Apple (tokenized)', price: 225n * DOLLAR },
  { symbol: 'TSLAon', ticker: 'TSLA', name: 'Tesla (tokenized)', price: 400n * DOLLAR },
];

/**
 * Plans the deployment of the simulated venue, two assets and the swap contract. The venue takes payment in
 * `stablecoins`.
 */
export function planVenue(planner: Planner, stablecoins: Hex[]): VenueDeployment {
  const { create, call } = planner;
  const owner = roles.venueOwner.address;
  const dollar = create(token, [roles.deployer.address, 'Venue Dollar', 'USDon', 18]);
  const satellites = {
    usdon: dollar,
    converter: create(venueConverter, [owner, dollar]),
    oracle: create(venueOracle, [owner]),
    registry: create(venueRegistry, [owner]),
    issuanceHours: create(venueHours, [owner, 0n, true]),
    limiter: create(venueLimiter, [owner]),
  };
  const manager = create(venueManager, [owner, satellites]);
  const fee = { feeRecipient: roles.owner.address, feeBps: BigInt(FEE_BPS) };
  const swap = create(tokenizedSwap, [
    { owner: roles.owner.address, manager, operator: roles.operator.address, ...fee, name: DOMAIN_NAME },
  ]);

  call('venueOwner', manager, venueManager, 'setRole', [SIGNER_ROLE, roles.venueSigner.address, true]);
  call('venueOwner', satellites.registry, venueRegistry, 'register', [MARKET_ID, swap, USER_ID]);
  call('venueOwner', satellites.converter, venueConverter, 'grantRoles', [manager, CONVERT_ROLE]);
  call('venueOwner', satellites.limiter, venueLimiter, 'grantRoles', [manager, SPEND_ROLE]);
  call('deployer', dollar, token, 'grantRoles', [manager, MINT_ROLE]);
  call('deployer', dollar, token, 'mint', [satellites.converter, 1_000_000_000n * DOLLAR]);
  for (const stablecoin of stablecoins) {
    call('venueOwner', satellites.converter, venueConverter, 'setPrice', [stablecoin, DOLLAR, 2n ** 40n]);
    call('deployer', stablecoin, token, 'mint', [satellites.converter, 1_000_000_000n * 10n ** 6n]);
  }
  return {
    swap,
    domain_name: DOMAIN_NAME,
    fee_bps: FEE_BPS,
    manager,
    oracle: satellites.oracle,
    hours: satellites.issuanceHours,
    limiter: satellites.limiter,
    registry: satellites.registry,
    converter: satellites.converter,
    venue_dollar: dollar,
    user_id: USER_ID,
    assets: ASSETS.map((asset) => planAsset(planner, manager, satellites, asset)),
  };
}

function planAsset(
  { create, call }: Planner,
  manager: Hex,
  { oracle, limiter }: { oracle: Hex; limiter: Hex },
  { price, ...asset }: (typeof ASSETS)[number],
): DeployedAsset {
  const address = create(token, [roles.deployer.address, asset.name, asset.symbol, 18]);
  call('deployer', address, token, 'grantRoles', [manager, MINT_ROLE]);
  call('venueOwner', manager, venueManager, 'setAccepted', [address, true]);
  call('venueOwner', oracle, venueOracle, 'setPrice', [
    address,
    price,
    NEVER_STALE_SECONDS,
    MAX_PRICE_DEVIATION_BPS,
  ]);
  for (const side of [0, 1]) {
    call('venueOwner', limiter, venueLimiter, 'setGlobalLimit', [
      address,
      side,
      100_000_000n * DOLLAR,
      DAY_SECONDS,
    ]);
    call('venueOwner', limiter, venueLimiter, 'setUserLimit', [
      address,
      side,
      100_000_000n * DOLLAR,
      DAY_SECONDS,
    ]);
  }
  return { ...asset, address, decimals: 18, price: price.toString() };
}
