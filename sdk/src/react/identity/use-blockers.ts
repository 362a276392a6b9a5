import type { EvmWallet } from '../../flows/wallet.ts';
import type { Check, EvmChain } from '../../wire.ts';
import { useEligibility } from '../hooks/use-offers.ts';
import { blockersOf } from './blockers.ts';

const POLL_INTERVAL_MS = 15_000;

/** Returns what stops the user from investing in an option. */
export function useBlockers(offerId: string, optionId: string): { blockers: Check[]; isLoading: boolean } {
  const { data, isLoading } = useEligibility(offerId, { pollIntervalMs: POLL_INTERVAL_MS });
  return { blockers: blockersOf(data, optionId), isLoading: isLoading && data === undefined };
}

/** Returns what stops the user from investing with this wallet; nothing until the wallet is connected. */
export function useWalletBlockers(
  offerId: string,
  optionId: string | undefined,
  chain: EvmChain | undefined,
  wallet: EvmWallet | undefined,
): Check[] {
  const { data } = useEligibility(offerId, {
    ...{ chain, walletAddress: wallet?.address, pollIntervalMs: POLL_INTERVAL_MS },
    enabled: wallet !== undefined && chain !== undefined,
  });
  return blockersOf(data, optionId ?? '');
}
