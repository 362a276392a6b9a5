import type { Wallet } from '../../flows/wallet.ts';
import type { Query } from '../../queries.ts';
import type { OfferDetails } from '../../wire.ts';
import { useQuery } from '../hooks/use-query.ts';
import type { OpenApproval } from './read-open-approvals.ts';

const POLL_INTERVAL_MS = 15_000;

/** Finds the approvals that the wallet gave to the offer's contracts and that no purchase uses. EVM only. */
export function useOpenApprovals(
  offer: OfferDetails,
  wallet: Wallet | undefined,
  enabled: boolean,
): readonly OpenApproval[] {
  const owner = wallet?.protocol === 'ethereum' ? wallet.address : undefined;
  const { data } = useQuery(openApprovals(offer, owner ?? ''), {
    ...{ enabled: enabled && owner !== undefined, pollIntervalMs: POLL_INTERVAL_MS },
  });
  return data ?? [];
}

/** Starts with the resource name of allowances, so that a purchase reloads it. */
function openApprovals(offer: OfferDetails, owner: string): Query<OpenApproval[]> {
  return {
    key: `tokenAllowance:open ${offer.id} ${owner}`,
    // The reader loads with the first request, because most pages never make one.
    load: async (client, signal) =>
      (await import('./read-open-approvals.ts')).readOpenApprovals(client, offer, owner, signal),
  };
}
