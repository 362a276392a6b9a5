import { useRef } from 'react';
import { isEvmChain } from '../../chains.ts';
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
import { loadParts } from '../load-parts.ts';
import { codeOf } from '../ui/error-messages.ts';
import { UNUSABLE_APPROVAL_CODES, type UnfinishedSale, type useUnfinishedSale } from './unfinished-sale.ts';
import { type Deployment, termsOf } from './use-deployment.ts';

type Input = {
  offer: OfferDetails;
  option: { id: string } | undefined;
  deployment: Deployment<Chain> | undefined;
  wallet: Wallet | undefined;
  unfinished: UnfinishedSale | null;
  recorded: Pick<ReturnType<typeof useUnfinishedSale>, 'record' | 'replace'>;
  /** Called if the service has already used the approval of a purchase. */
  onApprovalUsed(purchase: UnfinishedSale): void;
  onDone: ((participation: Participation) => void) | undefined;
};

/** Runs a token sale purchase, and resumes one that was interrupted before or after its approval. */
export function useSalePurchase(input: Input) {
  const { offer, option, deployment, wallet, unfinished, recorded, onApprovalUsed, onDone } = input;
  const causeway = useCauseway();
  const invalidatePurchase = usePurchaseDone();
  const terms = termsOf(deployment, wallet);
  const run = useFlow<TokenSalePhase, Participation>(terms);
  const last = useRef<UnfinishedSale | null>(null);
  useOnChange(`${offer.id} ${option?.id}`, run.reset);
  const { isRegistered, registered } = useRegisteredWallets(offer.id, option?.id ?? '', wallet);

  /** Starts a purchase or, with `find`, finishes one: reuses its approval if `find` returns one. */
  const start = (purchase: UnfinishedSale, find?: FindApproval) => {
    if (wallet === undefined) return;
    last.current = purchase;
    run.start(async (flows, options) => {
      // Recorded before the wallet opens: the user may leave the page and approve afterwards.
      recorded.record(purchase);
      let approvalHash = purchase.approvalHash;
      const onApproved = (hash: string) => {
        approvalHash = hash;
        recorded.replace(purchase.id, { ...purchase, approvalHash: hash });
      };
      try {
        const { buySale } = await loadParts();
        const found = approvalHash === null ? await find?.(flows, options) : undefined;
        if (found) onApproved(found);
        const sale = { offer, purchase: { ...purchase, approvalHash }, wallet, onApproved };
        const participation = await buySale(flows, causeway, sale, {
          ...options,
          onTransaction: (sent) => {
            if (sent.phase === 'approving') onApproved(sent.hash);
            options.onTransaction?.(sent);
          },
        });
        recorded.replace(purchase.id, null);
        invalidatePurchase();
        onDone?.(participation);
        return participation;
      } catch (error) {
        const code = codeOf(error);
        if (code === 'approval_already_used') onApprovalUsed(purchase);
        // A new purchase without an approval leaves nothing to finish, unless the wallet may have sent one.
        const mayBeSent = code === 'aborted' || code === 'outcome_unknown';
        const isEmpty = approvalHash === null && find === undefined && !mayBeSent;
        if (isEmpty || UNUSABLE_APPROVAL_CODES.has(code)) recorded.replace(purchase.id, null);
        throw error;
      }
    });
  };
  const isOwn = wallet !== undefined && isSameAddress(wallet.address, unfinished?.wallet ?? '');
  const isLast = ({ optionId, wallet: owner, chain, assetId }: UnfinishedSale) =>
    optionId === option?.id && `${owner} ${chain} ${assetId}` === terms;
  // Finishing a purchase with its approval cannot buy twice. Without an approval, a retry must match what the page
  // shows.
  const canRetry = unfinished?.approvalHash
    ? isOwn && run.state.step === 'failed'
    : run.canRetry && (unfinished !== null ? isOwn : last.current !== null && isLast(last.current));
  const retry = () => {
    if (!canRetry) return;
    if (unfinished !== null) resume();
    else if (last.current !== null) start({ ...last.current, id: crypto.randomUUID(), approvalHash: null });
  };
  const resume = () => {
    if (unfinished === null || !isOwn) return;
    const { chain, assetId, amount } = unfinished;
    start(unfinished, async (flows, options) => {
      if (wallet.protocol !== 'ethereum' || !isEvmChain(chain)) return null;
      const approval = { offer, chain, wallet, assetId, amount };
      return flows.findOpenApproval(causeway, approval, withoutEvents(options));
    });
  };
  return {
    ...{ run, isRegistered, registered, canRetry, retry },
    buy: (units: bigint) => {
      if (option === undefined || deployment === undefined || wallet === undefined) return;
      const { chain, assetId } = deployment;
      const order = {
        id: crypto.randomUUID(),
        optionId: option.id,
        chain,
        assetId,
        amount: units.toString(),
      };
      start({ ...order, wallet: wallet.address, approvalHash: null });
    },
    resume,
  };
}

/** Finds the hash of an approval that this browser did not record. */
type FindApproval = (flows: Flows, options: FlowOptions<TokenSalePhase>) => Promise<string | null>;

/** Returns the options for a search that sends no transactions. */
function withoutEvents(options: FlowOptions<TokenSalePhase>): FlowOptions<'connecting'> {
  return { ...options, onTransaction: undefined };
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
