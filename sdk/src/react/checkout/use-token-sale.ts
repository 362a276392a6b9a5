import { useRef } from 'react';
import type { TokenSalePhase } from '../../flows/token-sale.ts';
import type { EvmWallet } from '../../flows/wallet.ts';
import type { OfferDetails, Participation } from '../../wire.ts';
import { useCauseway } from '../context.ts';
import { useFlow } from '../hooks/use-flow.ts';
import { useRequirements } from '../hooks/use-offers.ts';
import { useInvalidate } from '../hooks/use-query.ts';
import { useConnectedWallets } from '../hooks/use-user.ts';
import { codeOf } from '../ui/error-messages.ts';
import { UNUSABLE_APPROVAL_CODES, type UnfinishedSale, useUnfinishedSale } from './unfinished-sale.ts';
import type { Deployment } from './use-deployment.ts';

type Input = {
  offer: OfferDetails;
  option: { id: string };
  deployment: Deployment | undefined;
  wallet: EvmWallet | undefined;
  onDone: ((participation: Participation) => void) | undefined;
};

type Purchase = Omit<UnfinishedSale, 'approvalHash'> & { approvalHash?: `0x${string}` };

/** Runs a token sale purchase, and resumes one that was interrupted after its approval. */
export function useTokenSale({ offer, option, deployment, wallet, onDone }: Input) {
  const causeway = useCauseway();
  const invalidate = useInvalidate();
  const [unfinished, setUnfinished] = useUnfinishedSale(offer.id);
  const run = useFlow<TokenSalePhase, Participation>();
  const last = useRef<Purchase | null>(null);
  const { isRegistered, registered } = useRegisteredWallets(offer.id, option.id, wallet);

  const start = (purchase: Purchase) => {
    if (wallet === undefined) return;
    last.current = purchase;
    const { optionId, chain, assetId, amount, approvalHash } = purchase;
    run.start(async (flows, options) => {
      try {
        const input = {
          ...{ offer, optionId, chain, wallet, assetId, amount, approvalHash },
          onApproved: (hash: `0x${string}`) => setUnfinished({ ...purchase, approvalHash: hash }),
        };
        const participation = await flows.buyTokenSale(causeway, input, options);
        setUnfinished(null);
        invalidate('participations', 'tokenBalance', 'tokenAllowance');
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
    ...{ run, unfinished, isRegistered, registered, retry },
    buy: (units: bigint) => {
      if (deployment === undefined || wallet === undefined) return;
      const { chain, assetId } = deployment;
      start({ optionId: option.id, chain, assetId, amount: units.toString(), wallet: wallet.address });
    },
    resume: () => {
      if (unfinished !== null) start(unfinished);
    },
    discard: () => setUnfinished(null),
  };
}

/** `isRegistered` is undefined until it is known, and true if the option requires no wallet. */
function useRegisteredWallets(offerId: string, optionId: string, wallet: EvmWallet | undefined) {
  const requirements = useRequirements(offerId).data?.options[optionId]?.data;
  const requiresWallet = requirements?.some(
    (one) =>
      one.type === 'whitelisted_wallet' ||
      (one.type === 'external_wallet' && one.details.protocol === 'ethereum'),
  );
  const { data } = useConnectedWallets(offerId, { optionId, enabled: requiresWallet === true });
  const registered = (data ?? []).filter(({ protocol }) => protocol === 'ethereum');
  const isRegistered =
    requiresWallet === false ||
    (data === undefined || wallet === undefined
      ? undefined
      : registered.some(({ address }) => address === wallet.address.toLowerCase()));
  return { isRegistered, registered };
}
