import { type Hex, maxUint256, stringToHex } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import { venueConverter } from '../../abi/venue-converter.ts';
import { venueHours } from '../../abi/venue-hours.ts';
import { venueLimiter } from '../../abi/venue-limiter.ts';
import { venueManager } from '../../abi/venue-manager.ts';
import { venueOracle } from '../../abi/venue-oracle.ts';
import { venueRegistry } from '../../abi/venue-registry.ts';
import { accounts, type Call, type Chain, type Deployed, deploy, send } from '../chain.ts';
import { deployAsset, deployDollar, type Erc20 } from '../tokens.ts';

const { owner } = accounts;

export const userId = stringToHex('GM-causeway', { size: 32 });
/** Identifies the venue's market in its user registry: the low 20 bytes of `keccak256("global_markets")`. */
export const marketId = '0x428ECB70E90d1527A5f5e177789f51747b883F34';
export const signerRole = '0x023d9737d781c665e5048e4dfd034f07fec540e8ecb2336b3d85a375b90a3a35';
export const unit = 10n ** 18n;
export const posted = 200n * unit;

export type Quote = {
  chainId: bigint;
  attestationId: bigint;
  userId: Hex;
  asset: Hex;
  price: bigint;
  quantity: bigint;
  expiration: bigint;
  side: number;
  additionalData: Hex;
};

export const quoteTypes = {
  Quote: [
    { name: 'chainId', type: 'uint256' },
    { name: 'attestationId', type: 'uint256' },
    { name: 'userId', type: 'bytes32' },
    { name: 'asset', type: 'address' },
    { name: 'price', type: 'uint256' },
    { name: 'quantity', type: 'uint256' },
    { name: 'expiration', type: 'uint256' },
    { name: 'side', type: 'uint8' },
    { name: 'additionalData', type: 'bytes32' },
  ],
} as const;

export type Venue = {
  manager: Deployed<typeof venueManager.abi>;
  registry: Deployed<typeof venueRegistry.abi>;
  oracle: Deployed<typeof venueOracle.abi>;
  hours: Deployed<typeof venueHours.abi>;
  limiter: Deployed<typeof venueLimiter.abi>;
  converter: Deployed<typeof venueConverter.abi>;
  usdon: Erc20;
  asset: Erc20;
  dollar: Erc20;
};

/**
 * Deploys a venue that trades one asset at about 200 dollars, takes payment in the test dollar token and signs with
 * `accounts.venue`.
 */
export async function deployVenue(chain: Chain): Promise<Venue> {
  const dollar = await deployDollar(chain);
  const usdon = await deployAsset(chain, 'USDon');
  const asset = await deployAsset(chain, 'AAPLon');
  const registry = await deploy(chain, venueRegistry, [owner.address]);
  const oracle = await deploy(chain, venueOracle, [owner.address]);
  const hours = await deploy(chain, venueHours, [owner.address, 0n, true]);
  const limiter = await deploy(chain, venueLimiter, [owner.address]);
  const converter = await deploy(chain, venueConverter, [owner.address, usdon.address]);
  const satellites = {
    usdon: usdon.address,
    converter: converter.address,
    oracle: oracle.address,
    registry: registry.address,
    issuanceHours: hours.address,
    limiter: limiter.address,
  };
  const manager = await deploy(chain, venueManager, [owner.address, satellites]);

  const set = (call: Call) => send(chain, owner, call);
  const cap = 10n ** 12n * unit;
  for (const token of [usdon, asset]) {
    await set({ ...token, functionName: 'grantRoles', args: [manager.address, 1n] });
  }
  for (const side of [0, 1]) {
    await set({ ...limiter, functionName: 'setGlobalLimit', args: [asset.address, side, cap, 86_400n] });
    await set({ ...limiter, functionName: 'setUserLimit', args: [asset.address, side, cap, 86_400n] });
  }
  await set({ ...limiter, functionName: 'grantRoles', args: [manager.address, 1n] });
  await set({ ...converter, functionName: 'grantRoles', args: [manager.address, 1n] });
  await set({ ...converter, functionName: 'setPrice', args: [dollar.address, unit, 2n ** 40n] });
  await set({ ...usdon, functionName: 'mint', args: [converter.address, cap] });
  await set({ ...dollar, functionName: 'mint', args: [converter.address, 10n ** 15n] });
  await set({ ...oracle, functionName: 'setPrice', args: [asset.address, posted, 2 ** 32 - 1, 1_000] });
  await set({ ...manager, functionName: 'setAccepted', args: [asset.address, true] });
  await set({ ...manager, functionName: 'setRole', args: [signerRole, accounts.venue.address, true] });
  return { manager, registry, oracle, hours, limiter, converter, usdon, asset, dollar };
}

export function register(chain: Chain, { registry }: Venue, account: Hex, id: Hex = userId) {
  return send(chain, owner, { ...registry, functionName: 'register', args: [marketId, account, id] });
}

export async function approve(chain: Chain, token: Erc20, account: PrivateKeyAccount, spender: Hex) {
  await send(chain, account, { ...token, functionName: 'approve', args: [spender, maxUint256] });
}

export function venueDomain(chainId: number, manager: Hex) {
  return { name: 'OndoGMTokenManager', version: '1', chainId, verifyingContract: manager };
}

export function signQuote(
  chain: Chain,
  { manager }: Venue,
  message: Quote,
  signer = accounts.venue,
): Promise<Hex> {
  const domain = venueDomain(chain.id, manager.address);
  return signer.signTypedData({ domain, types: quoteTypes, primaryType: 'Quote', message });
}

let lastAttestation = 0n;

export function makeQuote(chain: Chain, { asset }: Venue, overrides: Partial<Quote> = {}): Quote {
  lastAttestation += 1n;
  return {
    chainId: BigInt(chain.id),
    attestationId: lastAttestation,
    userId,
    asset: asset.address,
    price: posted,
    quantity: 5n * unit,
    expiration: 4_000_000_000n,
    side: 0,
    additionalData: `0x${'00'.repeat(32)}`,
    ...overrides,
  };
}
