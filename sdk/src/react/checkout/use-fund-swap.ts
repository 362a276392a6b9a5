import { useRef, useState } from 'react';
import type { FundSwapPhase } from '../../flows/fund-swap.ts';
import type { SwapResult } from '../../flows/outcome.ts';
import type { EvmWallet } from '../../flows/wallet.ts';
import { notify } from '../../notify.ts';
import type { FundSwapOffer } from '../../offers.ts';
import type { Check, SwapOutputToken, SwapPreview, SwapStatus, WalletAuthorization } from '../../wire.ts';
import { useCauseway } from '../context.ts';
import { type FlowView, useFlow } from '../hooks/use-flow.ts';
import { useOnChange } from '../hooks/use-on-change.ts';
import { usePurchaseDone } from '../hooks/use-purchase-done.ts';
import type { QueryResult } from '../hooks/use-query.ts';
import { useSwapStatus, useWalletAuthorization } from '../hooks/use-swaps.ts';
import { useWallet } from '../hooks/use-wallet.ts';
import { useWalletBlockers } from '../identity/use-blockers.ts';
import { loadParts } from '../load-parts.ts';
import { minReceived } from './order-math.ts';
import type { Amount, Limits } from './use-amount.ts';
import { type DeploymentChoice, termsOf, useDeployment } from './use-deployment.ts';
import { useFundPreview } from './use-fund-preview.ts';

const STATUS_INTERVAL_MS = 20_000;
const DEFAULT_SLIPPAGE_BPS = 50;

export type UseFundSwapOptions = {
  offer: FundSwapOffer;
  /** Called when the swap is confirmed. */
  onDone?: ((result: SwapResult) => void) | undefined;
};

type SwapTerms = { amount: bigint; slippageBps: number; minReceive: bigint };

export type FundSwapState = FlowView<FundSwapPhase, SwapResult> & {
  /**
   * The networks and payment assets to choose from. `choice.deployment` is undefined if this SDK supports none of them.
   */
  choice: DeploymentChoice;
  wallet: EvmWallet | undefined;
  status: QueryResult<SwapStatus>;
  /** Whether the fund has stopped swaps on this network, or undefined until that is known. */
  isStopped: boolean | undefined;
  /** Whether the wallet is on the fund's allow-list. If not, add the wallet with `useAllowWallet`. */
  authorization: QueryResult<WalletAuthorization>;
  /** What stops the user from swapping with this wallet. */
  blockers: readonly Check[];
  amount: Amount;
  limits: Limits;
  /** What the fund would pay out for `amount` now. */
  preview: QueryResult<SwapPreview>;
  /** The token that the fund pays out. */
  output: SwapOutputToken | undefined;
  /** The minimum that the wallet receives, in smallest units, or undefined without a preview. */
  minReceive: bigint | undefined;
  slippageBps: number;
  setSlippageBps(slippageBps: number): void;
  /**
   * Whether the fund can take only part of `amount` now. If so, the user has to set `allowPartial` before the swap.
   * The swap then pays exactly the part in `preview`, or fails.
   */
  isPartial: boolean;
  allowPartial: boolean;
  setAllowPartial(allowPartial: boolean): void;
  canSwap: boolean;
  /**
   * Swaps `amount`, or repeats a failed swap on the same terms. Does nothing unless `canSwap` or `canRetry` is true.
   */
  swap(): void;
};

/**
 * Runs a swap into a fund: network, asset, allow-list, amount with a live preview, slippage, approval and swap. Leaves
 * the rendering to you. `FundSwapCheckout` is built on this hook. The service checks the user's requirements; show them
 * with `RequirementsChecklist` or `useEligibility`.
 *
 * @example
 * ```tsx
 * import type { FundSwapOffer } from '@causeway/sdk';
 * import { useFundSwap } from '@causeway/sdk/react';
 *
 * function Swap({ offer }: { offer: FundSwapOffer }) {
 *   const { amount, preview, canSwap, swap, state } = useFundSwap({ offer });
 *   if (state.step === 'done') return <p role="status">Received {String(state.result.received)}</p>;
 *   return (
 *     <>
 *       <input value={amount.text} onChange={(event) => amount.setText(event.target.value)} />
 *       <p>{preview.data?.receive_output_amount}</p>
 *       <button type="button" disabled={!canSwap} onClick={swap}>Swap</button>
 *     </>
 *   );
 * }
 * ```
 */
export function useFundSwap({ offer, onDone }: UseFundSwapOptions): FundSwapState {
  const causeway = useCauseway();
  const invalidatePurchase = usePurchaseDone();
  const choice = useDeployment(offer);
  const { deployment } = choice;
  const { wallet } = useWallet('ethereum');
  const contract = deployment && { contract_address: deployment.contract.address, chain: deployment.chain };
  const status = useSwapStatus(contract, { pollIntervalMs: STATUS_INTERVAL_MS });
  const authorization = useWalletAuthorization(
    contract && wallet && { ...contract, wallet_address: wallet.address },
  );
  const blockers = useWalletBlockers(offer.id, offer.options[0]?.id, deployment?.chain, wallet);
  const { amount, limits, preview, output: published } = useFundPreview(deployment, wallet?.address);
  // If the service reports an output token whose decimals differ from the offer's, ignores that token. The flow
  // verifies the offer's decimals on chain, so the page must show amounts with the offer's decimals.
  const output = published?.decimals === offer.asset.fractional_digits ? published : undefined;
  const [slippageBps, setSlippageBps] = useState(DEFAULT_SLIPPAGE_BPS);
  const [allowPartial, setAllowPartial] = useState(false);
  const flowTerms = termsOf(deployment, wallet);
  const run = useFlow<FundSwapPhase, SwapResult>(flowTerms);
  const { state, hashes, canRetry, reset } = run;
  // Only a different offer resets the flow. A wallet change does not: locking the wallet also counts as a change, and a
  // swap that was sent must stay visible.
  useOnChange(offer.id, reset);
  useOnChange(`${offer.id} ${flowTerms}`, () => setAllowPartial(false));

  const { units } = amount;
  const isStopped = status.data && (BigInt(status.data.stopped) & BigInt(status.data.swap_level)) !== 0n;
  const pays = preview.data && BigInt(preview.data.pay_input_amount) + BigInt(preview.data.fee);
  const isPartial = pays !== undefined && units !== null && pays < units;
  const minReceive = preview.data && minReceived(preview.data.receive_output_amount, slippageBps);
  const isAllowed = authorization.data?.authorized === true && blockers.length === 0 && isStopped !== true;
  const isPriced = units !== null && minReceive !== undefined && (!isPartial || allowPartial);
  const canSwap = isAllowed && isPriced && wallet !== undefined && state.step === 'idle';
  const lastTerms = useRef<SwapTerms | undefined>(undefined);
  const swap = () => {
    // The user signs what the page shows. A partial swap pays exactly the part that is shown, even if the fund could
    // now take more or less.
    const shown = canSwap && { amount: isPartial ? pays : units, slippageBps, minReceive };
    // A retry uses the same terms as the failed swap, because the page has shown no other terms since.
    const terms = canRetry ? lastTerms.current : shown || undefined;
    if (terms === undefined || !wallet || !deployment) return;
    lastTerms.current = terms;
    const { chain, assetId } = deployment;
    run.start(async (flows, options) => {
      const { runExclusively, swapLock } = await loadParts();
      const order = { offer, chain, wallet, assetId, ...terms };
      // Runs one swap at a time. Otherwise, the user could pay twice, by confirming this swap and also a prompt that is
      // still open from another page or an earlier visit.
      const result = await runExclusively(swapLock(wallet), (onSend) =>
        flows.swapFund(causeway, order, { ...options, onSend }),
      );
      invalidatePurchase();
      notify(onDone, result);
      return result;
    });
  };
  return {
    ...{ state, hashes, canRetry, reset, choice, wallet, status, isStopped, authorization, blockers },
    ...{ amount, limits, preview, output, minReceive, slippageBps, setSlippageBps },
    ...{ isPartial, allowPartial, setAllowPartial, canSwap, swap },
  };
}
