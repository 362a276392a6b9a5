import { useState } from 'react';
import { CHAINS, isEvmChain } from '../../chains.ts';
import type { Wallet } from '../../flows/wallet.ts';
import type { Chain, EvmChain, OfferContract, OfferDetails } from '../../wire.ts';

/** The chain, contract and payment token of a purchase. */
export type Deployment<One extends Chain = EvmChain> = {
  chain: One;
  contract: Omit<OfferContract, 'chain'>;
  assetId: string;
  code: string;
  token: string;
  decimals: number;
};

export type DeploymentChoice<One extends Chain = EvmChain> = {
  deployment: Deployment<One> | undefined;
  chains: readonly { value: string; label: string }[];
  assets: readonly { value: string; label: string }[];
  setChain(chain: string): void;
  setAsset(assetId: string): void;
};

/**
 * Returns a string that identifies the wallet, chain and asset of a purchase. A retry must keep all three, because the
 * user has confirmed them.
 */
export function termsOf(deployment: Deployment<Chain> | undefined, wallet: Wallet | undefined): string {
  const { address, protocol } = wallet ?? {};
  // Wallets may change the letter case of EVM addresses.
  return `${protocol === 'ethereum' ? address?.toLowerCase() : address} ${deployment?.chain} ${deployment?.assetId}`;
}

/** Lets the user choose a chain and a payment asset for a swap offer. Default: the first chain and its first asset. */
export function useDeployment(offer: OfferDetails): DeploymentChoice {
  return useChoice<EvmChain>(offer, isEvmChain);
}

/** Lets the user choose a chain and a payment asset for a token sale. The chain can also be Solana. */
export function useSaleDeployment(offer: OfferDetails): DeploymentChoice<Chain> {
  return useChoice(offer, (chain): chain is Chain => Object.hasOwn(CHAINS, chain));
}

function useChoice<One extends Chain>(
  offer: OfferDetails,
  isSupported: (chain: string) => chain is One,
): DeploymentChoice<One> {
  const [chosen, setChosen] = useState<{ chain?: string; asset?: string }>({});
  const contracts = offer.contracts.flatMap((one) => {
    const { chain }: { chain: string } = one;
    return isSupported(chain) ? [{ ...one, chain }] : [];
  });
  const contract = contracts.find(({ chain }) => chain === chosen.chain) ?? contracts[0];
  // A tokenized order does not specify a funding token: the service always uses the contract's first one.
  const tokens = contract?.funding_tokens.slice(0, offer.type === 'tokenized::swap' ? 1 : undefined) ?? [];
  const token = tokens.find(({ asset_id }) => asset_id === chosen.asset) ?? tokens[0];
  const assetOf = (id: string) => offer.funding_assets.find((asset) => asset.id === id);
  const deployment: Deployment<One> | undefined = contract &&
    token && {
      ...{ chain: contract.chain, contract },
      ...{ assetId: token.asset_id, token: token.address, decimals: token.decimals },
      code: assetOf(token.asset_id)?.code ?? token.asset_id,
    };
  return {
    deployment,
    chains: contracts.map(({ chain }) => ({ value: chain, label: CHAINS[chain].name })),
    assets: tokens.map(({ asset_id }) => {
      const asset = assetOf(asset_id);
      return { value: asset_id, label: asset === undefined ? asset_id : `${asset.name} (${asset.code})` };
    }),
    setChain: (chain) => setChosen((previous) => ({ ...previous, chain })),
    setAsset: (asset) => setChosen((previous) => ({ ...previous, asset })),
  };
}
