import { useTokenBalance } from '../hooks/use-tokens.ts';
import type { Deployment } from './use-deployment.ts';

const POLL_INTERVAL_MS = 15_000;

/** Returns the owner's balance of the payment token in its smallest unit, undefined until it is known. */
export function useBalance(
  deployment: Deployment | undefined,
  owner: string | undefined,
): bigint | undefined {
  const { data } = useTokenBalance(
    deployment === undefined || owner === undefined
      ? null
      : { token_address: deployment.token, owner, chain: deployment.chain },
    { pollIntervalMs: POLL_INTERVAL_MS },
  );
  return data === undefined ? undefined : BigInt(data.balance);
}
