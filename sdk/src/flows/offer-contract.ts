import type { EvmChain, OfferContract, OfferDetails } from '../wire.ts';
import { Stop } from './flow.ts';

type Hex = `0x${string}`;
type FundingToken = { asset_id: string; address: Hex; decimals: number };

/** Where an offer of this type takes this asset on this chain; addresses in lower case. */
export type Place = { address: Hex; assetAddress: Hex | null; token: FundingToken };

export function findPlace(
  offer: OfferDetails,
  type: OfferDetails['type'],
  chain: EvmChain,
  assetId: string,
): Place {
  const contract = findContract(offer, type, chain);
  const token = contract.funding_tokens.find(({ asset_id }) => asset_id === assetId);
  if (token === undefined)
    throw new Stop('asset_not_accepted', `${offer.name} does not take ${assetId} on ${chain}.`, {
      details: { accepted: contract.funding_tokens.map(({ asset_id }) => asset_id) },
    });
  return {
    address: lower(contract.address),
    assetAddress: contract.asset_address === null ? null : lower(contract.asset_address),
    token: { ...token, address: lower(token.address) },
  };
}

export function findContract(
  offer: OfferDetails,
  type: OfferDetails['type'],
  chain: EvmChain,
): OfferContract {
  if (offer.type !== type)
    throw new Stop('offer_type_mismatch', `${offer.name} is not an offer of this kind.`, {
      details: { type: offer.type },
    });
  const contract = offer.contracts.find((one) => one.chain === chain);
  if (contract === undefined)
    throw new Stop('chain_not_supported', `${offer.name} is not on ${chain}.`, {
      details: { chains: offer.contracts.map((one) => one.chain) },
    });
  return contract;
}

export function lower(address: string): Hex {
  return address.toLowerCase() as Hex;
}
