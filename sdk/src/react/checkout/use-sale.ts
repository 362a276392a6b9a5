import { useRef } from 'react';
import type { TokenSalePhase } from '../../flows/token-sale.ts';
import type { EvmWallet } from '../../flows/wallet.ts';
import type { OfferDetails, Participation } from '../../wire.ts';
import { useCauseway } from '../context.ts';
import type { Place } from '../hooks/use-deployment.ts';
import { useRequirements } from '../hooks/use-offers.ts';
import { useInvalidate } from '../hooks/use-query.ts';
import { useConnectedWallets } from '../hooks/use-user.ts';
import { codeOf } from '../ui/error-messages.ts';
import { SPENT, type UnfinishedSale, useUnfinishedSale } from './unfinished-sale.ts';
import { useFlow } from './use-flow.ts';

type Input = {
  offer: OfferDetails;
  option: { id: string };
  place: Place | undefined;
  wallet: EvmWallet | undefined;
  onDone: ((participation: Participation) => void) | undefined;
};

type Purchase = Omit<UnfinishedSale, 'approvalHash'> & { approvalHash?: `0x${string}` };

/** Buys, and goes on with what was interrupted. */
export function useSale({ offer, option, place, wallet, onDone }: Input) {
  const causeway = useCauseway();
  const invalidate = useInvalidate();
  const [unfinished, keep] = useUnfinishedSale(offer.id);
  const run = useFlow<TokenSalePhase, Participation>();
  const last = useRef<Purchase | null>(null);
  const { isBound, bound } = useBound(offer.id, option.id, wallet);

  const begin = (purchase: Purchase) => {
    if (wallet === undefined) return;
    last.current = purchase;
    const { optionId, chain, assetId, amount, approvalHash } = purchase;
    run.start(async (flows, options) => {
      try {
        const input = {
          ...{ offer, optionId, chain, wallet, assetId, amount, approvalHash },
          onApproved: (hash: `0x${string}`) => keep({ ...purchase, approvalHash: hash }),
        };
        const participation = await flows.buyTokenSale(causeway, input, options);
        keep(null);
        invalidate('participations', 'tokenBalance', 'tokenAllowance');
        onDone?.(participation);
        return participation;
      } catch (error) {
        if (SPENT.has(codeOf(error))) keep(null);
        throw error;
      }
    });
  };
  const again = () => {
    if (last.current === null) return;
    const { approvalHash: _, ...purchase } = last.current;
    begin(purchase);
  };
  return {
    ...{ run, unfinished, isBound, bound, again },
    buy: (units: bigint) => {
      if (place === undefined || wallet === undefined) return;
      const { chain, assetId } = place;
      begin({ optionId: option.id, chain, assetId, amount: units.toString(), wallet: wallet.address });
    },
    resume: () => {
      if (unfinished !== null) begin(unfinished);
    },
    discard: () => keep(null),
  };
}

/** Undefined while it is not known; true where the option asks for no wallet. */
function useBound(offerId: string, optionId: string, wallet: EvmWallet | undefined) {
  const requirements = useRequirements(offerId).data?.options[optionId]?.data;
  const asks = requirements?.some(
    (one) =>
      one.type === 'whitelisted_wallet' ||
      (one.type === 'external_wallet' && one.details.protocol === 'ethereum'),
  );
  const { data } = useConnectedWallets(offerId, { optionId, enabled: asks === true });
  const bound = (data ?? []).filter(({ protocol }) => protocol === 'ethereum');
  const isBound =
    asks === false ||
    (data === undefined || wallet === undefined
      ? undefined
      : bound.some(({ address }) => address === wallet.address.toLowerCase()));
  return { isBound, bound };
}
