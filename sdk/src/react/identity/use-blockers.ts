import type { Wallet } from '../../flows/wallet.ts';
import type { Chain, Check } from '../../wire.ts';
import { useEligibility } from '../hooks/use-offers.ts';
import { blockersOf } from './blockers.ts';

const BLOCKED_POLL_INTERVAL_MS = 15_000;

/**
 * Returns what stops the user from investing in an option. Polls only while there are blockers. Without blockers, no
 * polling is needed: checklist steps trigger a reload, and the service repeats every check when the user invests.
 */
export function useBlockers(offerId: string, optionId: string): { blockers: Check[]; isLoading: boolean } {
  const { data, isLoading } = useEligibility(offerId);
  const blockers = blockersOf(data, optionId);
  useEligibility(offerId, {
    pollIntervalMs: BLOCKED_POLL_INTERVAL_MS,
    enabled: blockers.length > 0,
  });
  return { blockers, isLoading: isLoading && data === undefined };
}

/** Returns what stops the user from investing with this wallet. The list is empty until the wallet is connected. */
export function useWalletBlockers(
  offerId: string,
  optionId: string | undefined,
  chain: Chain | undefined,
  wallet: Wallet | undefined,
): Check[] {
  const { data } = useEligibility(offerId, {
    ...{ chain, walletAddress: wallet?.address },
    enabled: wallet !== undefined && chain !== undefined,
  });
  return blockersOf(data, optionId ?? '');
}
