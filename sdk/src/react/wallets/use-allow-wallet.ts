import type { AllowWalletPhase, AllowWalletResult } from '../../flows/allow-wallet.ts';
import type { EvmWallet } from '../../flows/wallet.ts';
import type { EvmChain, OfferDetails } from '../../wire.ts';
import { useCauseway } from '../context.ts';
import { type FlowView, useFlow } from '../hooks/use-flow.ts';
import { useInvalidate } from '../hooks/use-query.ts';

export type UseAllowWalletOptions = { offer: OfferDetails; chain: EvmChain; wallet: EvmWallet };

export type AllowWalletState = FlowView<AllowWalletPhase, AllowWalletResult> & {
  /** Asks the owner to sign a proof of ownership and to send the transaction that allows the wallet. */
  allow(): void;
};

/**
 * Adds a wallet to a fund's allow-list with one signature and one transaction. Leaves the rendering to you.
 *
 * @example
 * ```tsx
 * import type { FundSwapOffer } from '@causeway/sdk';
 * import type { EvmWallet } from '@causeway/sdk/flows';
 * import { useAllowWallet } from '@causeway/sdk/react';
 *
 * function Allow({ offer, wallet }: { offer: FundSwapOffer; wallet: EvmWallet }) {
 *   const { allow, state } = useAllowWallet({ offer, chain: 'ethereum_sepolia', wallet });
 *   return <button type="button" disabled={state.step === 'running'} onClick={allow}>Allow my wallet</button>;
 * }
 * ```
 */
export function useAllowWallet({ offer, chain, wallet }: UseAllowWalletOptions): AllowWalletState {
  const causeway = useCauseway();
  const invalidate = useInvalidate();
  const { start, ...view } = useFlow<AllowWalletPhase, AllowWalletResult>();
  const allow = () =>
    start(async (flows, options) => {
      const result = await flows.allowWallet(causeway, { offerId: offer.id, chain, wallet }, options);
      invalidate('walletAuthorization', 'eligibility');
      return result;
    });
  return { ...view, allow };
}
