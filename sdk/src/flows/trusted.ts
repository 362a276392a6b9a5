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
 * Throws `contract_not_trusted` if the host lists contracts for the chain and `address` is not one of them. Checks the
 * token in the same way. Once the host lists contracts for at least one chain, all networks with real money that have
 * no list are refused too, so that the service cannot move the offer to a chain that the host does not use.
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

/** Throws if the host has named an address for the asset that the user receives, but the service names another one. */
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
    `The service named a contract on ${chain} that this application does not trust.`,
    { details: { chain, address } },
  );
}

/**
 * Returns the trusted contracts that the calldata verifier checks the order against. On networks with real
 * money, the verifier trusts only contracts that the host or this package names.
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
