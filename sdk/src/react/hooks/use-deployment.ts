import { useState } from 'react';
import { CHAINS } from '../../chains.ts';
import type { EvmChain, OfferContract, OfferDetails } from '../../wire.ts';

/** Where and with what is paid. */
export type Place = {
  chain: EvmChain;
  contract: OfferContract;
  assetId: string;
  code: string;
  token: string;
  decimals: number;
};

export type PlaceChoice = {
  place: Place | undefined;
  chains: readonly { value: string; label: string }[];
  assets: readonly { value: string; label: string }[];
  setChain(chain: string): void;
  setAsset(assetId: string): void;
};

/** The chains that the offer is deployed on, and the assets that each takes; the first ones unless chosen. */
export function usePlace(offer: OfferDetails): PlaceChoice {
  const [chosen, setChosen] = useState<{ chain?: string; asset?: string }>({});
  const { contracts } = offer;
  const contract = contracts.find(({ chain }) => chain === chosen.chain) ?? contracts[0];
  // The order of a tokenized asset names no funding token: the contract's first one is paid with.
  const tokens = contract?.funding_tokens.slice(0, offer.type === 'tokenized::swap' ? 1 : undefined) ?? [];
  const token = tokens.find(({ asset_id }) => asset_id === chosen.asset) ?? tokens[0];
  const assetOf = (id: string) => offer.funding_assets.find((asset) => asset.id === id);
  const place: Place | undefined = contract &&
    token && {
      ...{ chain: contract.chain, contract },
      ...{ assetId: token.asset_id, token: token.address, decimals: token.decimals },
      code: assetOf(token.asset_id)?.code ?? token.asset_id,
    };
  return {
    place,
    chains: contracts.map(({ chain }) => ({ value: chain, label: CHAINS[chain].name })),
    assets: tokens.map(({ asset_id }) => {
      const asset = assetOf(asset_id);
      return { value: asset_id, label: asset === undefined ? asset_id : `${asset.name} (${asset.code})` };
    }),
    setChain: (chain) => setChosen((known) => ({ ...known, chain })),
    setAsset: (asset) => setChosen((known) => ({ ...known, asset })),
  };
}
