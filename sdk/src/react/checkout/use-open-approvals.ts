import { useState } from 'react';
import type { Wallet } from '../../flows/wallet.ts';
import type { Query } from '../../queries.ts';
import type { Chain, OfferDetails } from '../../wire.ts';
import { useQuery } from '../hooks/use-query.ts';
import { loadParts } from '../load-parts.ts';
import type { OpenApproval } from './read-open-approvals.ts';
import type { UnfinishedSale } from './unfinished-sale.ts';

const POLL_INTERVAL_MS = 15_000;

type Place = { chain: Chain; assetId: string; amount: string };

/**
 * Finds the approvals that an EVM wallet has given to the offer's contracts, except approvals needed by a participation
 * or by an approved purchase from another offer (`readOthers`). Finds no approvals for a Solana wallet. `hide` hides an
 * approval until the component unmounts or the approved amount changes.
 */
export function useOpenApprovals(
  offer: OfferDetails,
  wallet: Wallet | undefined,
  readOthers: () => readonly UnfinishedSale[] = () => [],
) {
  const owner = wallet?.protocol === 'ethereum' ? wallet.address : undefined;
  const [hidden, setHidden] = useState<readonly string[]>([]);
  const keyOf = ({ chain, assetId, amount }: Place) => `${owner} ${chain} ${assetId} ${amount}`;
  const { data = [] } = useQuery(openApprovals(offer, owner ?? '', readOthers), {
    ...{ enabled: owner !== undefined, pollIntervalMs: POLL_INTERVAL_MS },
  });
  return {
    approvals: data.filter((one) => !hidden.includes(keyOf(one))),
    hide: (one: Place) => setHidden((keys) => [...keys, keyOf(one)]),
  };
}

/**
 * The key starts with `tokenAllowance`, like the keys of allowance queries, so that a purchase reloads this query too.
 */
function openApprovals(
  offer: OfferDetails,
  owner: string,
  readOthers: () => readonly UnfinishedSale[],
): Query<OpenApproval[]> {
  return {
    key: `tokenAllowance:open ${offer.id} ${owner}`,
    load: async (client, signal) =>
      (await loadParts()).readOpenApprovals(client, offer, owner, readOthers, signal),
  };
}
