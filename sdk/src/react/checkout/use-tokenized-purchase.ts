import { useState } from 'react';
import type { SwapResult } from '../../flows/outcome.ts';
import type { TokenizedPhase } from '../../flows/tokenized-purchase.ts';
import type { EvmWallet } from '../../flows/wallet.ts';
import type { TokenizedOffer } from '../../offers.ts';
import type { Check, TokenizedSwapQuote, TokenizedSwapTransaction } from '../../wire.ts';
import type { FlowView } from '../hooks/use-flow.ts';
import type { QueryResult } from '../hooks/use-query.ts';
import { useWallet } from '../hooks/use-wallet.ts';
import { useWalletBlockers } from '../identity/use-blockers.ts';
import { minReceived } from './order-math.ts';
import type { Amount, Limits } from './use-amount.ts';
import { type DeploymentChoice, useDeployment } from './use-deployment.ts';
import { useTokenizedOrder } from './use-tokenized-order.ts';
import { useTradeQuote } from './use-trade-quote.ts';

const DEFAULT_SLIPPAGE_BPS = 100;

export type UseTokenizedPurchaseOptions = {
  offer: TokenizedOffer;
  /** Called when the purchase is confirmed. */
  onDone?: ((result: SwapResult) => void) | undefined;
};

export type TokenizedPurchaseState = FlowView<TokenizedPhase, SwapResult> & {
  /** The networks to choose from. `choice.deployment` is undefined if this SDK supports none of them. */
  choice: DeploymentChoice;
  wallet: EvmWallet | undefined;
  /** What stops the user from buying with this wallet. */
  blockers: readonly Check[];
  /** Whether the market is open. */
  isTradable: boolean;
  amount: Amount;
  limits: Limits;
  /** The fee included in `amount`, in smallest units; undefined until it is known. */
  fee: bigint | undefined;
  /** The live quote for the part of `amount` that remains after the fee. */
  quote: QueryResult<TokenizedSwapQuote>;
  /** The minimum to receive at this quote and slippage, in smallest units; undefined without a quote. */
  minReceive: bigint | undefined;
  slippageBps: number;
  setSlippageBps(slippageBps: number): void;
  /** The order, or null until it is placed. It has the exact amounts and the time at which its price expires. */
  order: TokenizedSwapTransaction | null;
  canBuy: boolean;
  /**
   * Buys tokens for `amount`, or repeats a failed purchase on the same terms. Does nothing unless `canBuy` or
   * `canRetry` is true.
   */
  buy(): void;
};

/**
 * Runs a purchase of a tokenized asset. Reads the market status, the limits and the live price. Then approves the
 * amount and places an order, which is verified before the wallet sends it. Leaves the rendering to you.
 * `TokenizedCheckout` is built on this hook. The service checks the user's requirements; show them with
 * `RequirementsChecklist` or `useEligibility`.
 *
 * @example
 * ```tsx
 * import type { TokenizedOffer } from '@causeway/sdk';
 * import { useTokenizedPurchase } from '@causeway/sdk/react';
 *
 * function Buy({ offer }: { offer: TokenizedOffer }) {
 *   const { amount, quote, isTradable, canBuy, buy } = useTokenizedPurchase({ offer });
 *   if (!isTradable) return <p>The market is closed.</p>;
 *   return (
 *     <>
 *       <input value={amount.text} onChange={(event) => amount.setText(event.target.value)} />
 *       <p>{quote.data?.price} USD</p>
 *       <button type="button" disabled={!canBuy} onClick={buy}>Buy</button>
 *     </>
 *   );
 * }
 * ```
 */
export function useTokenizedPurchase({ offer, onDone }: UseTokenizedPurchaseOptions): TokenizedPurchaseState {
  const choice = useDeployment(offer);
  const { deployment } = choice;
  const { wallet } = useWallet('ethereum');
  const [slippageBps, setSlippageBps] = useState(DEFAULT_SLIPPAGE_BPS);
  const { amount, limits, fee, feeBps, quote, isTradable } = useTradeQuote(
    offer,
    deployment,
    wallet?.address,
  );
  const blockers = useWalletBlockers(offer.id, offer.options[0]?.id, deployment?.chain, wallet);
  const { run, order, buy, retry } = useTokenizedOrder({ offer, deployment, wallet, onDone });
  const { state, hashes, canRetry, reset } = run;
  const { units } = amount;
  const isReady = deployment !== undefined && wallet !== undefined && isTradable && blockers.length === 0;
  const minReceive = quote.data && minReceived(quote.data.token_base_units, slippageBps);
  const isPriced = units !== null && minReceive !== undefined && feeBps !== undefined;
  const canBuy = isReady && isPriced && state.step === 'idle';
  return {
    ...{ state, hashes, canRetry, reset, choice, wallet, blockers, isTradable, amount, limits, quote },
    ...{ fee, minReceive, slippageBps, setSlippageBps, order, canBuy },
    buy: () => {
      if (canRetry) retry();
      else if (canBuy) buy({ units, minReceive, maxFeeBps: feeBps });
    },
  };
}
