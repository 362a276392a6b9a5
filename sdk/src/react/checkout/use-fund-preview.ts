import { useSwapOutputToken, useSwapPreview } from '../hooks/use-swaps.ts';
import { useAmount } from './use-amount.ts';
import { useBalance } from './use-balance.ts';
import { useDebounced } from './use-debounced.ts';
import type { Deployment } from './use-deployment.ts';

export const PREVIEW_INTERVAL_MS = 10_000;

/** Returns the amount that the user types, and a live preview of the swap. */
export function useFundPreview(deployment: Deployment | undefined, owner: string | undefined) {
  const contract = deployment && { contract_address: deployment.contract.address, chain: deployment.chain };
  const limits = {
    ...{ decimals: deployment?.decimals ?? 0, code: deployment?.code ?? '' },
    balance: useBalance(deployment, owner),
  };
  const amount = useAmount(limits);
  const units = amount.units?.toString();
  const debouncedUnits = useDebounced(units);
  const preview = useSwapPreview(
    contract && deployment && debouncedUnits !== undefined
      ? { ...contract, input_token: deployment.token, amount: debouncedUnits }
      : null,
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
