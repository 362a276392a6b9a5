import { useRef } from 'react';
import type { TokenSalePhase } from '../../flows/sale-purchase.ts';
import type { Wallet } from '../../flows/wallet.ts';
import { notify } from '../../notify.ts';
import { isSameAddress } from '../../same-address.ts';
import type { Chain, OfferDetails, Participation } from '../../wire.ts';
import { useCauseway } from '../context.ts';
import { useFlow } from '../hooks/use-flow.ts';
import { useRequirements } from '../hooks/use-offers.ts';
import { useOnChange } from '../hooks/use-on-change.ts';
import { usePurchaseDone } from '../hooks/use-purchase-done.ts';
import { useConnectedWallets } from '../hooks/use-user.ts';
import { loadParts } from '../load-parts.ts';
import { codeOf } from '../ui/error-messages.ts';
import type { Attempt } from './buy-sale.ts';
import { findLatest, saleClosed, type UnfinishedSale, type useUnfinishedSales } from './unfinished-sale.ts';
import { type Deployment, termsOf } from './use-deployment.ts';

type Input = {
  offer: OfferDetails;
  option: { id: string } | undefined;
  deployment: Deployment<Chain> | undefined;
  wallet: Wallet | undefined;
  recorded: ReturnType<typeof useUnfinishedSales>;
  /** Called if the service has already used a purchase's approval. */
  onApprovalUsed(purchase: UnfinishedSale): void;
  onDone: ((participation: Participation) => void) | undefined;
};

/** Runs a token sale purchase, or resumes a purchase that was interrupted before or after its approval. */
export function useSalePurchase(input: Input) {
  const { offer, option, deployment, wallet, recorded, onApprovalUsed, onDone } = input;
  const causeway = useCauseway();
  const invalidatePurchase = usePurchaseDone();
  const terms = termsOf(deployment, wallet);
  const run = useFlow<TokenSalePhase, Participation>(terms);
  const last = useRef<Attempt | null>(null);
  useOnChange(`${offer.id} ${option?.id}`, run.reset);
  const { isRegistered, registered } = useRegisteredWallets(offer.id, option?.id ?? '', wallet);

  const start = (purchase: UnfinishedSale, isResumed: boolean) => {
    const { lock } = recorded;
    if (wallet === undefined || lock === undefined) return;
    const wasRecorded = recorded.sales.includes(purchase);
    const attempt: Attempt = { purchase, isResumed, canRetry: !isResumed, wasRecorded };
    last.current = attempt;
    run.start(async (flows, options) => {
      const { buySale } = await loadParts();
      const records = { ...recorded, lock };
      const sale = { offer, wallet, attempt, recorded: records, onApprovalUsed, reset: run.reset };
      const participation = await buySale(flows, causeway, sale, options);
      invalidatePurchase();
      notify(onDone, participation);
      return participation;
    });
  };
  const isOwn = (sale: UnfinishedSale) => wallet !== undefined && isSameAddress(wallet.address, sale.wallet);
  const isLast = (sale: UnfinishedSale) =>
    isOwn(sale) &&
    sale.optionId === option?.id &&
    sale.chain === deployment?.chain &&
    sale.assetId === deployment?.assetId;
  const attempt = last.current;
  // The last purchase, if it can still be resumed: its record or, if only the page's copy has the approval, that copy.
  const failed = attempt && findLatest(recorded.sales, attempt.purchase);
  const { state } = run;
  // True if another tab was running the purchase and the purchase's record is now gone: the other tab has finished or
  // discarded the purchase.
  const isClosed =
    state.step === 'failed' &&
    codeOf(state.error) === 'purchase_elsewhere' &&
    attempt?.wasRecorded === true &&
    // If the wallet is not connected, `recorded.sales` may lack the record even though it exists.
    isOwn(attempt.purchase) &&
    !recorded.sales.some(({ id }) => id === attempt.purchase.id);
  // If the approval is known, a retry cannot buy twice, because an approval is used for only one participation.
  // Otherwise the retry may need a new approval, so `run.canRetry` must permit the retry.
  const canRetry = failed?.approvalHash
    ? isOwn(failed) && state.step === 'failed' && !isClosed
    : run.canRetry && (failed ? isOwn(failed) : attempt?.canRetry === true && isLast(attempt.purchase));
  const retry = () => {
    if (!canRetry) return;
    if (failed) resume(failed);
    else if (attempt) start({ ...attempt.purchase, id: crypto.randomUUID(), approvalHash: null }, false);
  };
  const resume = (sale: UnfinishedSale) => {
    if (isOwn(sale)) start(sale, true);
  };
  return {
    run: isClosed ? { ...run, state: { ...state, error: saleClosed() } } : run,
    ...{ isRegistered, registered, canRetry, retry },
    buy: (units: bigint) => {
      if (option === undefined || deployment === undefined || wallet === undefined) return;
      const { chain, assetId } = deployment;
      const order = {
        ...{ id: crypto.randomUUID(), offerId: offer.id, optionId: option.id },
        ...{ chain, fund: deployment.contract.address, assetId },
        amount: units.toString(),
      };
      start({ ...order, wallet: wallet.address, approvalHash: null }, false);
    },
    resume,
  };
}

/**
 * Returns the registered wallets with the same protocol as `wallet`, and whether `wallet` is one of them.
 * `isRegistered` is undefined until the answer is known, and true if the option does not require a registered wallet.
 */
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
