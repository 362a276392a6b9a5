import { useState } from 'react';
import { parseAmount } from '../../amounts.ts';
import { CHAINS } from '../../chains.ts';
import type { TokenSalePhase } from '../../flows/token-sale.ts';
import type { Wallet } from '../../flows/wallet.ts';
import type { TokenSaleOffer } from '../../offers.ts';
import type { Chain, Check, OptionAddress, Participation } from '../../wire.ts';
import type { FlowView } from '../hooks/use-flow.ts';
import { useWallet } from '../hooks/use-wallet.ts';
import { useWalletBlockers } from '../identity/use-blockers.ts';
import type { Protocol } from '../wallets/connector.ts';
import type { OpenApproval } from './read-open-approvals.ts';
import { type UnfinishedSale, useUnfinishedSale } from './unfinished-sale.ts';
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
  /** The networks and payment assets; its `deployment` is undefined if the sale has none that this SDK supports. */
  choice: DeploymentChoice<Chain>;
  /** The protocol of the wallet to connect with `useWallet`. */
  protocol: Protocol;
  wallet: Wallet | undefined;
  amount: Amount;
  limits: Limits;
  /** What stops the user from buying with this wallet. */
  blockers: readonly Check[];
  /** Whether the option accepts this wallet, undefined until that is known. */
  isRegistered: boolean | undefined;
  /** The wallets that the option accepts. */
  registered: readonly OptionAddress[];
  /**
   * A purchase that was approved but not recorded: `resume` or `discard` it. It survives reloads, and is found on chain if
   * this browser does not know it.
   */
  unfinished: UnfinishedSale | null;
  /** The participation once it is recorded, with its latest status. */
  participation: Participation | undefined;
  canBuy: boolean;
  /** Buys for `amount`. Does nothing unless `canBuy`. */
  buy(): void;
  /** Repeats a failed purchase with a new approval. */
  retry(): void;
  resume(): void;
  discard(): void;
};

/**
 * Runs a purchase of a token sale without any markup: network, asset, amount, approval, and the participation with its
 * live status. `TokenSaleCheckout` is built on it. The service checks the user's requirements; show them with
 * `RequirementsChecklist` or `useEligibility`.
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
  const option = offer.options.find(({ id }) => optionId === undefined || id === optionId);
  const choice = useSaleDeployment(offer);
  const { deployment } = choice;
  const [recorded, setUnfinished] = useUnfinishedSale(offer.id);
  const chain = recorded?.approvalHash ? recorded.chain : deployment?.chain;
  const protocol = chain === undefined ? 'ethereum' : CHAINS[chain].protocol;
  const { wallet } = useWallet(protocol);
  const [isDiscarded, setIsDiscarded] = useState(false);
  const approvals = useOpenApprovals(offer, wallet, option !== undefined && !isDiscarded);
  const unfinished = isDiscarded ? null : findUnfinished(recorded, approvals, option, wallet);
  const balance = useSaleBalance(deployment, wallet?.address);
  const minimum = parseAmount(option?.minimum_purchase_usd ?? '', deployment?.decimals ?? 0);
  const limits = {
    ...{ decimals: deployment?.decimals ?? 0, code: deployment?.code ?? '', balance },
    minimum: minimum === null ? undefined : BigInt(minimum),
  };
  const amount = useAmount(limits);
  const purchase = useSalePurchase({ offer, option, deployment, wallet, unfinished, setUnfinished, onDone });
  const { run, isRegistered, registered, buy, retry, resume } = purchase;
  const { state, hashes, canRetry, reset } = run;
  const blockers = useWalletBlockers(offer.id, option?.id, deployment?.chain, wallet);
  const participation = useSettlement(state.step === 'done' ? state.result : undefined);
  const { units } = amount;
  const isReady = option !== undefined && deployment !== undefined && wallet !== undefined;
  const isAccepted = isRegistered !== false && blockers.length === 0 && unfinished === null;
  const canBuy = isReady && isAccepted && units !== null && state.step === 'idle';
  return {
    ...{ state, hashes, canRetry, reset, option, choice, protocol, wallet, amount, limits, blockers },
    ...{ isRegistered, registered, unfinished, participation, canBuy, retry, resume },
    buy: () => {
      if (!canBuy || units === null) return;
      setIsDiscarded(false);
      buy(units);
    },
    discard: () => {
      setIsDiscarded(true);
      purchase.discard();
    },
  };
}

/** Returns the purchase to finish: the recorded one or, if only the chain knows its approval, one made of both. */
function findUnfinished(
  recorded: UnfinishedSale | null,
  approvals: readonly OpenApproval[],
  option: { id: string } | undefined,
  wallet: Wallet | undefined,
): UnfinishedSale | null {
  if (recorded?.approvalHash) return recorded;
  if (option === undefined || wallet === undefined) return null;
  const isRecorded = ({ chain, assetId }: OpenApproval) =>
    chain === recorded?.chain && assetId === recorded.assetId;
  const open = approvals.find(isRecorded) ?? approvals[0];
  if (open === undefined) return null;
  const isWhole = recorded !== null && isRecorded(open) && BigInt(recorded.amount) <= BigInt(open.amount);
  return {
    ...{ optionId: recorded?.optionId ?? option.id, chain: open.chain, assetId: open.assetId },
    ...{ amount: isWhole ? recorded.amount : open.amount, wallet: wallet.address, approvalHash: null },
  };
}
