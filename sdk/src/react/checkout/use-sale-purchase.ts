import { useRef } from 'react';
import { isEvmChain, type SolanaChain } from '../../chains.ts';
import type { Causeway } from '../../client.ts';
import type { FlowOptions } from '../../flows/flow.ts';
import type { TokenSalePhase } from '../../flows/token-sale.ts';
import type { Wallet } from '../../flows/wallet.ts';
import { isSameAddress } from '../../same-address.ts';
import type { Chain, OfferDetails, Participation } from '../../wire.ts';
import { useCauseway } from '../context.ts';
import { type Flows, useFlow } from '../hooks/use-flow.ts';
import { useRequirements } from '../hooks/use-offers.ts';
import { useOnChange } from '../hooks/use-on-change.ts';
import { usePurchaseDone } from '../hooks/use-purchase-done.ts';
import { useConnectedWallets } from '../hooks/use-user.ts';
import { codeOf } from '../ui/error-messages.ts';
import { UNUSABLE_APPROVAL_CODES, type UnfinishedSale, type useUnfinishedSale } from './unfinished-sale.ts';
import type { Deployment } from './use-deployment.ts';

type Input = {
  offer: OfferDetails;
  option: { id: string } | undefined;
  deployment: Deployment<Chain> | undefined;
  wallet: Wallet | undefined;
  unfinishedSale: ReturnType<typeof useUnfinishedSale>;
  onDone: ((participation: Participation) => void) | undefined;
};

type Purchase = Omit<UnfinishedSale, 'approvalHash'> & { approvalHash?: string };

/** Runs a token sale purchase, and resumes one that was interrupted after its approval. */
export function useSalePurchase({ offer, option, deployment, wallet, unfinishedSale, onDone }: Input) {
  const causeway = useCauseway();
  const invalidatePurchase = usePurchaseDone();
  const [unfinished, setUnfinished] = unfinishedSale;
  const run = useFlow<TokenSalePhase, Participation>();
  const last = useRef<Purchase | null>(null);
  useOnChange(`${offer.id} ${option?.id}`, run.reset);
  const { isRegistered, registered } = useRegisteredWallets(offer.id, option?.id ?? '', wallet);

  const start = (purchase: Purchase) => {
    if (wallet === undefined) return;
    last.current = purchase;
    run.start(async (flows, options) => {
      try {
        const onApproved = (hash: string) => setUnfinished({ ...purchase, approvalHash: hash });
        const buy = buyOn(flows, { offer, purchase, wallet, onApproved });
        const participation = await buy(causeway, options);
        setUnfinished(null);
        invalidatePurchase();
        onDone?.(participation);
        return participation;
      } catch (error) {
        if (UNUSABLE_APPROVAL_CODES.has(codeOf(error))) setUnfinished(null);
        throw error;
      }
    });
  };
  const retry = () => {
    if (last.current === null) return;
    const { approvalHash: _, ...purchase } = last.current;
    start(purchase);
  };
  return {
    ...{ run, isRegistered, registered, retry },
    buy: (units: bigint) => {
      if (option === undefined || deployment === undefined || wallet === undefined) return;
      const { chain, assetId } = deployment;
      start({ optionId: option.id, chain, assetId, amount: units.toString(), wallet: wallet.address });
    },
    resume: () => {
      if (unfinished !== null) start(unfinished);
    },
    discard: () => setUnfinished(null),
  };
}

type Sale = {
  offer: OfferDetails;
  purchase: Purchase;
  wallet: Wallet;
  onApproved(hash: string): void;
};

/** Returns the flow for the wallet's protocol. */
function buyOn(flows: Flows, { offer, purchase, wallet, onApproved }: Sale) {
  const { optionId, chain, assetId, amount, approvalHash } = purchase;
  const input = { offer, optionId, assetId, amount, onApproved };
  return (causeway: Causeway, options: FlowOptions<TokenSalePhase>) => {
    if (wallet.protocol === 'solana')
      return flows.buyTokenSaleOnSolana(
        causeway,
        { ...input, wallet, chain: chain as SolanaChain, approvalHash },
        options,
      );
    if (!isEvmChain(chain)) throw new Error(`Connect a Solana wallet to invest on ${chain}.`);
    const hash = approvalHash as `0x${string}` | undefined;
    return flows.buyTokenSale(causeway, { ...input, wallet, chain, approvalHash: hash }, options);
  };
}

/** `isRegistered` is undefined until it is known, and true if the option requires no wallet. */
function useRegisteredWallets(offerId: string, optionId: string, wallet: Wallet | undefined) {
  const requirements = useRequirements(offerId).data?.options[optionId]?.data;
  const requiresWallet = requirements?.some(
    (one) =>
      one.type === 'whitelisted_wallet' ||
      (one.type === 'external_wallet' && one.details.protocol === (wallet?.protocol ?? 'ethereum')),
  );
  const { data } = useConnectedWallets(offerId, { optionId, enabled: requiresWallet === true });
  const registered = (data ?? []).filter(({ protocol }) => protocol === (wallet?.protocol ?? 'ethereum'));
  const isRegistered =
    requiresWallet === false ||
    (data === undefined || wallet === undefined
      ? undefined
      : registered.some(({ address }) => isSameAddress(address, wallet.address)));
  return { isRegistered, registered };
}
