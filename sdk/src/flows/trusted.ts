import { CHAINS } from '../chains.ts';
import { isSameAddress } from '../same-address.ts';
import type { Chain, EvmChain } from '../wire.ts';
import { FlowFailure, type TrustedContracts } from './flow.ts';

/** The address of the venue's manager contract, on the networks where it is known. */
const VENUE_MANAGERS: TrustedContracts = {
  ethereum_mainnet: { venueManagers: ['0x2c158bc456e027b2affccadf1bdbd9f5fc4c5c8c'] },
};

type Published = { address: string; token?: { asset_id: string; address: string } };

/**
 * Throws `contract_not_trusted` unless the host trusts the contract and the token that the service has published:
 * - If the host lists contracts for this chain, `address` must be one of them.
 * - If the host lists contracts only for other chains, this chain must be a test network. Otherwise, the service could
 *   move the offer to a chain that the host does not use.
 * - If the host lists tokens for this chain, `token` must be one of them.
 */
export function assertTrusted(
  trusted: TrustedContracts | undefined,
  chain: Chain,
  { address, token }: Published,
): void {
  const { contracts, tokens } = trusted?.[chain] ?? {};
  const isOpen = contracts === undefined && (CHAINS[chain].isTest || !namesContracts(trusted));
  if (!isOpen && !includesAddress(contracts ?? [], address)) throw notTrusted(chain, address);
  if (token === undefined || tokens === undefined) return;
  const expected = Object.hasOwn(tokens, token.asset_id) ? tokens[token.asset_id] : undefined;
  if (expected === undefined || !isSameAddress(expected, token.address))
    throw notTrusted(chain, token.address);
}

/**
 * Throws `contract_not_trusted` if the host lists an address for the asset that the user receives, and `address`
 * differs from the listed address.
 */
export function assertTrustedAsset(
  trusted: TrustedContracts | undefined,
  chain: Chain,
  assetId: string,
  address: string | null,
): void {
  const tokens = trusted?.[chain]?.tokens ?? {};
  const expected = Object.hasOwn(tokens, assetId) ? tokens[assetId] : undefined;
  if (expected !== undefined && !isSameAddress(expected, address ?? '')) throw notTrusted(chain, address);
}

function namesContracts(trusted: TrustedContracts = {}): boolean {
  return Object.values(trusted).some((chain) => chain?.contracts !== undefined);
}

function notTrusted(chain: Chain, address: string | null): FlowFailure {
  return new FlowFailure(
    'contract_not_trusted',
    `The service returned a contract on ${chain} that this application does not trust.`,
    { details: { chain, address } },
  );
}

/**
 * Returns the contracts that the calldata verifier accepts in an order. On real-money networks, these are only
 * contracts that the host or this package lists. On test networks, a list that is not set stays undefined, so the
 * verifier uses its default.
 */
export function pinsOf(trusted: TrustedContracts | undefined, chain: EvmChain) {
  const { contracts, venueManagers } = trusted?.[chain] ?? {};
  const unnamed = CHAINS[chain].isTest ? undefined : [];
  return {
    contracts: contracts ?? unnamed,
    venue_managers: venueManagers ?? VENUE_MANAGERS[chain]?.venueManagers ?? unnamed,
  };
}

export function includesAddress(addresses: readonly string[], address: string): boolean {
  return addresses.some((each) => isSameAddress(each, address));
}
