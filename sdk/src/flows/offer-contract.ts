import type { Hex } from 'viem';
import type { Chain, EvmChain, OfferContract, OfferDetails } from '../wire.ts';
import { FlowFailure } from './flow.ts';

type FundingToken = { asset_id: string; address: Hex; decimals: number };

/** An offer's contract on a chain, and one of the contract's funding tokens. Addresses are in lower case. */
export type Deployment = { address: Hex; assetAddress: Hex | null; token: FundingToken };

export function findDeployment(
  offer: OfferDetails,
  type: OfferDetails['type'],
  chain: EvmChain,
  assetId: string,
): Deployment {
  const contract = findContract(offer, type, chain);
  const token = assertAccepted(offer, contract, assetId);
  return {
    address: lower(contract.address),
    assetAddress: contract.asset_address === null ? null : lower(contract.asset_address),
    token: { ...token, address: lower(token.address) },
  };
}

/** Returns the funding token for an asset. Throws `asset_not_accepted` if the contract does not accept the asset. */
export function assertAccepted(
  offer: OfferDetails,
  { chain, funding_tokens }: OfferContract,
  assetId: string,
): OfferContract['funding_tokens'][number] {
  const token = funding_tokens.find(({ asset_id }) => asset_id === assetId);
  if (token !== undefined) return token;
  const accepted = funding_tokens.map(({ asset_id }) => asset_id);
  throw new FlowFailure(
    'asset_not_accepted',
    `${offer.name} does not accept ${assetId} on ${chain}. Use one of: ${accepted.join(', ')}.`,
    { details: { accepted } },
  );
}

export function findContract(offer: OfferDetails, type: OfferDetails['type'], chain: Chain): OfferContract {
  if (offer.type !== type)
    throw new FlowFailure(
      'offer_type_mismatch',
      `${offer.name} has the type "${offer.type}", but this flow requires "${type}".`,
      { details: { type: offer.type } },
    );
  const contract = offer.contracts.find((candidate) => candidate.chain === chain);
  if (contract === undefined) {
    const chains = offer.contracts.map((candidate) => candidate.chain);
    throw new FlowFailure(
      'chain_not_supported',
      `${offer.name} is not available on ${chain}. Use one of: ${chains.join(', ')}.`,
      { details: { chains } },
    );
  }
  return contract;
}

export function lower(address: string): Hex {
  return address.toLowerCase() as Hex;
}
