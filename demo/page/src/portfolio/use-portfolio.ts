import { useCauseway, useEvents, useWallet } from '@causeway/sdk/react';
import { useCallback, useEffect, useRef, useState } from 'react';
import { useApp } from '../app-context.tsx';
import { loadPortfolio, type Portfolio } from './load.ts';

/**
 * The polling interval with an event stream. Only orders and sales cause events, so prices and fund balances must still
 * be polled.
 */
const LIVE_INTERVAL_MS = 60_000;
/** The polling interval without an event stream. */
const POLL_INTERVAL_MS = 15_000;
const EVENTS = ['participation.*', 'tokenized_swap.*'] as const;

type Result = { wallet: string | undefined; portfolio: Portfolio | undefined; error: unknown };

/**
 * Reads the connected wallet's portfolio. While the page is visible, reads the portfolio again after events and at
 * intervals.
 */
export function usePortfolio() {
  const client = useCauseway();
  const { config } = useApp();
  const wallet = useWallet('ethereum').wallet?.address;
  const [result, setResult] = useState<Result>({ wallet, portfolio: undefined, error: null });
  const newest = useRef(0);
  const refresh = useCallback(async () => {
    const number = ++newest.current;
    // Ignores the result if a newer read has started, for example for another wallet.
    const set = (next: (previous: Result) => Result) => number === newest.current && setResult(next);
    try {
      const portfolio = await loadPortfolio(client, config.chains, wallet);
      set(() => ({ wallet, portfolio, error: null }));
    } catch (error) {
      set((previous) => ({
        ...{ wallet, error },
        portfolio: previous.wallet === wallet ? previous.portfolio : undefined,
      }));
    }
  }, [client, config, wallet]);
  const { isLive } = useEvents(() => void refresh(), { types: EVENTS });
  useEffect(() => void refresh(), [refresh]);
  useEffect(() => {
    const refreshVisible = () => {
      if (!document.hidden) void refresh();
    };
    const timer = setInterval(refreshVisible, isLive ? LIVE_INTERVAL_MS : POLL_INTERVAL_MS);
    document.addEventListener('visibilitychange', refreshVisible);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', refreshVisible);
    };
  }, [refresh, isLive]);
  const isCurrent = result.wallet === wallet;
  return {
    portfolio: isCurrent ? result.portfolio : undefined,
    error: isCurrent ? result.error : null,
    refresh,
  };
}
