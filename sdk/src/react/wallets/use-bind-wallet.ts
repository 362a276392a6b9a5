import { useState } from 'react';
import { CHAINS } from '../../chains.ts';
import type { BindWalletPhase } from '../../flows/bind-wallet.ts';
import type { Wallet } from '../../flows/wallet.ts';
import { notify } from '../../notify.ts';
import type { Chain, OfferDetails, OptionAddress } from '../../wire.ts';
import { useCauseway } from '../context.ts';
import { type FlowView, useFlow } from '../hooks/use-flow.ts';
import { useInvalidate } from '../hooks/use-query.ts';
import type { Protocol } from './connector.ts';

export type UseBindWalletOptions = {
  offer: OfferDetails;
  optionId: string;
  /** Called when the wallet is bound. */
  onDone?: ((bound: OptionAddress) => void) | undefined;
};

export type BindWalletState = FlowView<BindWalletPhase, OptionAddress> & {
  /** The wallet that was last passed to `bind`. */
  wallet: Wallet | undefined;
  /** Asks the owner to sign a proof of ownership, and then binds the wallet to the option. */
  bind(wallet: Wallet): void;
};

/**
 * Binds a wallet to an offer option. Asks the wallet's owner to sign a message, which costs nothing. The hook renders
 * nothing itself. The requirements checklist uses this hook.
 *
 * @example
 * ```tsx
 * import type { OfferDetails } from '@causeway/sdk';
 * import { useBindWallet, useWallet } from '@causeway/sdk/react';
 *
 * function Register({ offer, optionId }: { offer: OfferDetails; optionId: string }) {
 *   const { wallet } = useWallet('ethereum');
 *   const { bind, state } = useBindWallet({ offer, optionId });
 *   if (state.step === 'done') return <p role="status">Registered {state.result.address}</p>;
 *   return <button type="button" disabled={!wallet} onClick={() => wallet && bind(wallet)}>Register</button>;
 * }
 * ```
 */
export function useBindWallet({ offer, optionId, onDone }: UseBindWalletOptions): BindWalletState {
  const causeway = useCauseway();
  const invalidate = useInvalidate();
  const { state, hashes, canRetry, reset, start } = useFlow<BindWalletPhase, OptionAddress>();
  const [wallet, setWallet] = useState<Wallet>();
  const bind = (next: Wallet) => {
    setWallet(next);
    start(async (flows, options) => {
      const chain = chainFor(offer, next.protocol);
      const input = { offerId: offer.id, optionId, chain, wallet: next };
      const bound = await flows.proveAndBindWallet(causeway, input, options);
      invalidate('connectedWallets', 'requirementStatuses', 'eligibility');
      notify(onDone, bound);
      return bound;
    });
  };
  return { state, hashes, canRetry, reset, wallet, bind };
}

/**
 * Returns the chain for the ownership proof: the offer's first chain that uses `protocol`. If there is none, returns
 * the protocol's mainnet, or its test network if the offer's first chain is a test network.
 */
function chainFor({ contracts }: OfferDetails, protocol: Protocol): Chain {
  const chains = contracts.map(({ chain }): Chain => chain);
  const own = chains.find((chain) => CHAINS[chain].protocol === protocol);
  if (own !== undefined) return own;
  const first = chains[0] ?? 'ethereum_mainnet';
  if (protocol === 'ethereum') return CHAINS[first].isTest ? 'ethereum_sepolia' : 'ethereum_mainnet';
  return CHAINS[first].isTest ? 'solana_devnet' : 'solana_mainnet';
}
