import { useState } from 'react';
import { parseAmount } from '../../amounts.ts';
import { CHAINS } from '../../chains.ts';
import type { TokenSalePhase } from '../../flows/sale-purchase.ts';
import type { Wallet } from '../../flows/wallet.ts';
import type { TokenSaleOffer } from '../../offers.ts';
import type { Chain, Check, OptionAddress, Participation } from '../../wire.ts';
import { useCauseway } from '../context.ts';
import type { FlowView } from '../hooks/use-flow.ts';
import { useWallet } from '../hooks/use-wallet.ts';
import { useWalletBlockers } from '../identity/use-blockers.ts';
import { loadParts } from '../load-parts.ts';
import type { Protocol } from '../wallets/connector.ts';
import type { OpenApproval } from './read-open-approvals.ts';
import {
  findApproved,
  findUnfinishedSale,
  type UnfinishedSale,
  useUnfinishedSales,
} from './unfinished-sale.ts';
import { type Amount, type Limits, useAmount } from './use-amount.ts';
import { useSaleBalance } from './use-balance.ts';
import { type DeploymentChoice, useSaleDeployment } from './use-deployment.ts';
import { useOpenApprovals } from './use-open-approvals.ts';
import { useSalePurchase } from './use-sale-purchase.ts';
import { useSettlement } from './use-settlement.ts';

export type UseTokenSaleOptions = {
  offer: TokenSaleOffer;
  /** Default: the first option. */
  optionId?: string | undefined;
  /** Called when the participation is recorded. */
  onDone?: ((participation: Participation) => void) | undefined;
};

export type TokenSaleState = FlowView<TokenSalePhase, Participation> & {
  option: TokenSaleOffer['options'][number] | undefined;
  /**
   * The networks and payment assets to choose from. `choice.deployment` is undefined if this SDK supports none of them.
   */
  choice: DeploymentChoice<Chain>;
  /** The protocol of the wallet to connect with `useWallet`. */
  protocol: Protocol;
  wallet: Wallet | undefined;
  amount: Amount;
  limits: Limits;
  /** What stops the user from buying with this wallet. */
  blockers: readonly Check[];
  /**
   * True if the wallet is registered for the option, or if no registration is required. Undefined until that is known.
   */
  isRegistered: boolean | undefined;
  /**
   * The user's wallets that are registered for the option. Empty if the option does not require a registered wallet.
   */
  registered: readonly OptionAddress[];
  /**
   * An approved purchase that this browser started and that has no participation yet. Finish the purchase with
   * `resume`, or drop it with `discard`. The purchase survives reloads.
   */
  unfinished: UnfinishedSale | null;
  /**
   * An approval that no purchase uses, or undefined if there is none. The approved amount comes from the service and
   * was not confirmed by the user, so never buy with this approval automatically. Let the user confirm the amount
   * first, or revoke the approval with `revokeApproval`.
   */
  openApproval: OpenApproval | undefined;
  /** Hides `openApproval` until the component unmounts or the approved amount changes. */
  hideOpenApproval(): void;
  /** The participation once it is recorded, with its latest status. */
  participation: Participation | undefined;
  canBuy: boolean;
  /** Buys tokens for `amount`. Does nothing unless `canBuy` is true. */
  buy(): void;
  /**
   * Repeats a failed purchase. If the purchase is unfinished, does the same as `resume`. Otherwise starts again with a
   * new approval. Does nothing unless `canRetry` is true.
   */
  retry(): void;
  /**
   * Finishes `unfinished`, if the connected wallet started it. Asks for a new approval only if the earlier approval is
   * not found.
   */
  resume(): void;
  /**
   * Runs `work`, if given, and then forgets `unfinished`. The purchase's approval stays on chain unless `work` revokes
   * it. If the service already has a participation for the purchase, skips `work` and sets `participation`. Rejects if
   * another tab is running the purchase, or if `work` is given and another purchase needs the approval.
   */
  discard(work?: () => Promise<unknown>): Promise<void>;
};

/**
 * Runs a purchase in a token sale: network, asset, amount, approval, and the participation with its live status. Leaves
 * the rendering to you. `TokenSaleCheckout` is built on this hook. The service checks the user's requirements; show
 * them with `RequirementsChecklist` or `useEligibility`.
 *
 * @example
 * ```tsx
 * import type { TokenSaleOffer } from '@causeway/sdk';
 * import { useTokenSale } from '@causeway/sdk/react';
 *
 * function Invest({ offer }: { offer: TokenSaleOffer }) {
 *   const { amount, canBuy, buy, state, participation } = useTokenSale({ offer });
 *   if (participation) return <p role="status">{participation.status}</p>;
 *   return (
 *     <>
 *       <input value={amount.text} onChange={(event) => amount.setText(event.target.value)} />
 *       <button type="button" disabled={!canBuy} onClick={buy}>Invest</button>
 *       {state.step === 'running' && <p role="status">{state.phase}</p>}
 *     </>
 *   );
 * }
 * ```
 */
export function useTokenSale({ offer, optionId, onDone }: UseTokenSaleOptions): TokenSaleState {
  const causeway = useCauseway();
  const option = offer.options.find(({ id }) => optionId === undefined || id === optionId);
  const choice = useSaleDeployment(offer);
  const { deployment } = choice;
  const recorded = useUnfinishedSales(offer.id);
  const chain = findApproved(recorded.sales)?.chain ?? deployment?.chain;
  const protocol = chain === undefined ? 'ethereum' : CHAINS[chain].protocol;
  const { wallet } = useWallet(protocol);
  const { approvals, hide } = useOpenApprovals(offer, wallet, recorded.readOthers);
  const unfinished = findUnfinishedSale(recorded.sales, approvals, wallet);
  const openApproval = unfinished === null ? approvals[0] : undefined;
  const balance = useSaleBalance(deployment, wallet?.address);
  const minimum = parseAmount(option?.minimum_purchase_usd ?? '', deployment?.decimals ?? 0);
  const limits = {
    ...{ decimals: deployment?.decimals ?? 0, code: deployment?.code ?? '', balance },
    minimum: minimum === null ? undefined : BigInt(minimum),
  };
  const amount = useAmount(limits);
  const purchase = useSalePurchase({
    ...{ offer, option, deployment, wallet, recorded, onDone },
    onApprovalUsed: hide,
  });
  const { run, isRegistered, registered, buy, canRetry, retry, resume } = purchase;
  const { state, hashes, reset } = run;
  const [found, setFound] = useState<Participation>();
  const blockers = useWalletBlockers(offer.id, option?.id, deployment?.chain, wallet);
  const participation = useSettlement(state.step === 'done' ? state.result : found);
  const { units } = amount;
  const isReady = option !== undefined && deployment !== undefined && wallet !== undefined;
  const isKnown = recorded.lock !== undefined;
  const isAccepted = isRegistered !== false && blockers.length === 0 && unfinished === null;
  const canBuy = isReady && isKnown && isAccepted && units !== null && state.step === 'idle';
  return {
    ...{ state, hashes, canRetry, option, choice, protocol, wallet, amount, limits, blockers },
    ...{ isRegistered, registered, unfinished, openApproval, participation, canBuy, retry },
    buy: () => {
      if (canBuy && units !== null) buy(units);
    },
    reset: () => {
      setFound(undefined);
      reset();
    },
    resume: () => {
      if (unfinished !== null) resume(unfinished);
    },
    discard: async (work) => {
      const { lock } = recorded;
      if (unfinished === null || lock === undefined) return;
      const { discardSale } = await loadParts();
      const sale = { offer, purchase: unfinished, recorded: { ...recorded, lock } };
      const participation = await discardSale(causeway, sale, work);
      if (participation === undefined) hide(unfinished);
      setFound(participation);
    },
    hideOpenApproval: () => openApproval && hide(openApproval),
  };
}
