import type { FundSwapPhase } from '../../flows/fund-swap.ts';
import type { SwapResult } from '../../flows/outcome.ts';
import type { OfferDetails, SwapPreview } from '../../wire.ts';
import { useCauseway } from '../context.ts';
import { useFlow } from '../hooks/use-flow.ts';
import { useInvalidate } from '../hooks/use-query.ts';
import { useSwapOutputToken, useSwapPreview } from '../hooks/use-swaps.ts';
import { useWallet } from '../hooks/use-wallet.ts';
import { minReceived } from './fund-summary.tsx';
import { useAmount } from './use-amount.ts';
import { useBalance } from './use-balance.ts';
import { useDebounced } from './use-debounced.ts';
import type { Deployment } from './use-deployment.ts';

const PREVIEW_INTERVAL_MS = 10_000;

/** Returns the amount being typed with a live preview of the swap. */
export function useFundPreview(deployment: Deployment, owner: string | undefined) {
  const { chain, token, decimals, code } = deployment;
  const contract = { contract_address: deployment.contract.address, chain };
  const limits = { decimals, code, balance: useBalance(deployment, owner) };
  const amount = useAmount(limits);
  const units = amount.units?.toString();
  const debouncedUnits = useDebounced(units);
  const preview = useSwapPreview(
    debouncedUnits === undefined ? null : { ...contract, input_token: token, amount: debouncedUnits },
    { pollIntervalMs: PREVIEW_INTERVAL_MS },
  );
  const output = useSwapOutputToken(contract).data;
  return {
    amount,
    limits,
    output,
    preview: debouncedUnits === units ? preview : { ...preview, data: undefined, error: undefined },
  };
}

type Swap = { units: bigint; slippageBps: number; allowPartial: boolean; preview: SwapPreview };

export function useFundSwap(
  offer: OfferDetails,
  { chain, assetId }: Deployment,
  onDone: ((result: SwapResult) => void) | undefined,
) {
  const causeway = useCauseway();
  const invalidate = useInvalidate();
  const { wallet } = useWallet('ethereum');
  const run = useFlow<FundSwapPhase, SwapResult>();
  const swap = ({ units, slippageBps, allowPartial, preview }: Swap) => {
    if (wallet === undefined) return;
    run.start(async (flows, options) => {
      const input = {
        ...{ offer, chain, wallet, assetId, amount: units, slippageBps, allowPartial },
        // The minimum comes from the preview that the user saw, however long the approval takes.
        minReceive: minReceived(preview, slippageBps),
      };
      const result = await flows.swapFund(causeway, input, options);
      invalidate('tokenBalance', 'tokenAllowance', 'swapPreview');
      onDone?.(result);
      return result;
    });
  };
  return { run, swap };
}
