import { useEffect, useState } from 'react';
import { isEvmChain } from '../../chains.ts';
import type { Chain } from '../../wire.ts';
import { useCausewayContext } from '../context.ts';
import { useTokenBalance } from '../hooks/use-tokens.ts';
import type { Deployment } from './use-deployment.ts';

const POLL_INTERVAL_MS = 15_000;
const SOLANA_POLL_INTERVAL_MS = 3_000;

/** Returns the owner's balance of the payment token in its smallest unit, or undefined until the balance is known. */
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

/**
 * Like `useBalance`, but also supports Solana, where the balance is read through the `rpcUrls` of `CausewayProvider`.
 */
export function useSaleBalance(
  deployment: Deployment<Chain> | undefined,
  owner: string | undefined,
): bigint | undefined {
  const { chain, token } = deployment ?? {};
  const isEvm = chain !== undefined && isEvmChain(chain);
  const onEvm = useBalance(isEvm ? (deployment as Deployment) : undefined, owner);
  const onSolana = useSolanaBalance(isEvm ? undefined : chain, token, owner);
  return isEvm ? onEvm : onSolana;
}

function useSolanaBalance(chain: Chain | undefined, mint: string | undefined, owner: string | undefined) {
  const { rpcUrls } = useCausewayContext();
  const [balance, setBalance] = useState<bigint>();
  const urls = chain === undefined ? undefined : rpcUrls?.[chain];
  useEffect(() => {
    setBalance(undefined);
    if (urls === undefined || mint === undefined || owner === undefined) return;
    const controller = new AbortController();
    const { signal } = controller;
    const read = async () => {
      const { listTokenAccounts } = await import('../../flows/solana-purchase.ts');
      const accounts = await listTokenAccounts({ rpcUrls: urls, signal }, owner, mint);
      // A payment cannot be split across token accounts, so only the largest balance counts.
      const largest = accounts.reduce((most, { amount }) => (amount > most ? amount : most), 0n);
      if (!signal.aborted) setBalance(largest);
    };
    const poll = () => void read().catch(() => undefined);
    poll();
    const timer = setInterval(poll, SOLANA_POLL_INTERVAL_MS);
    return () => {
      clearInterval(timer);
      controller.abort();
    };
  }, [urls, mint, owner]);
  return balance;
}
