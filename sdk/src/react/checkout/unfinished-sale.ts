import { useEffect, useState } from 'react';
import { CHAINS } from '../../chains.ts';
import type { Wallet } from '../../flows/wallet.ts';
import { isSameAddress } from '../../same-address.ts';
import type { Chain } from '../../wire.ts';
import { readItem, writeItem } from '../hooks/local-storage.ts';
import { useSession } from '../hooks/use-session.ts';
import type { OpenApproval } from './read-open-approvals.ts';

/** A purchase that was started, and whose participation the service has not recorded yet; it survives reloads. */
export type UnfinishedSale = {
  /** Distinguishes this purchase from those that other pages have started. */
  id: string;
  optionId: string;
  chain: Chain;
  assetId: string;
  /** In smallest units. */
  amount: string;
  wallet: string;
  /** The hash of an EVM transaction, or the signature of a Solana one; null until the wallet reports the approval. */
  approvalHash: string | null;
};

const APPROVAL_HASH = /^(0x[0-9a-f]{64}|[1-9A-HJ-NP-Za-km-z]{64,88})$/i;
const storageKey = (offerId: string, userId: string) => `causeway.sale.${userId}.${offerId}`;

/** The event that tells this page about a change in storage; other pages get the browser's own event. */
const CHANGED = 'causeway.sale';

/**
 * Returns the purchase that this user recorded in this browser, a function that records one, and one that changes or
 * removes it. A purchase is recorded before the wallet opens, because the user may leave the page and approve it
 * afterwards. Another page may have recorded its own purchase in the meantime, so `replace` does nothing if the stored
 * purchase has a different id.
 */
export function useUnfinishedSale(offerId: string) {
  const { status, user } = useSession();
  const key = status === 'loading' ? undefined : storageKey(offerId, user?.id ?? '');
  const [sale, setSale] = useState<UnfinishedSale | null>(null);
  useEffect(() => {
    const read = () => setSale(key === undefined ? null : parseUnfinishedSale(readItem(key)));
    read();
    for (const event of [CHANGED, 'storage']) addEventListener(event, read);
    return () => {
      for (const event of [CHANGED, 'storage']) removeEventListener(event, read);
    };
  }, [key]);
  const write = (next: UnfinishedSale | null) => {
    if (key !== undefined) writeItem(key, next && JSON.stringify(next));
    dispatchEvent(new Event(CHANGED));
  };
  const replace = (id: string, next: UnfinishedSale | null) => {
    if (key !== undefined && parseUnfinishedSale(readItem(key))?.id === id) write(next);
  };
  return { sale, record: write, replace };
}

/**
 * Returns the recorded purchase if it can be finished: its approval is known, or the same wallet has an open approval
 * that covers it. An approval without a recorded purchase does not count, because there is only the service's word for
 * what it was for.
 */
export function findUnfinishedSale(
  recorded: UnfinishedSale | null,
  approvals: readonly OpenApproval[],
  wallet: Wallet | undefined,
): UnfinishedSale | null {
  if (recorded === null || recorded.approvalHash !== null) return recorded;
  const isSameWallet = wallet !== undefined && isSameAddress(wallet.address, recorded.wallet);
  const isCovered = approvals.some(
    ({ chain, assetId, amount }) =>
      chain === recorded.chain && assetId === recorded.assetId && BigInt(amount) >= BigInt(recorded.amount),
  );
  return isSameWallet && isCovered ? recorded : null;
}

/** Returns null unless the text is a complete purchase. Browser storage may contain anything. */
export function parseUnfinishedSale(text: string | null): UnfinishedSale | null {
  try {
    const sale = JSON.parse(text ?? 'null') as Partial<UnfinishedSale> | null;
    const strings = [sale?.id, sale?.optionId, sale?.assetId, sale?.wallet];
    const isComplete =
      strings.every((one) => typeof one === 'string') &&
      Object.hasOwn(CHAINS, sale?.chain ?? '') &&
      /^[1-9]\d*$/.test(sale?.amount ?? '');
    const hasHash = sale?.approvalHash === null || APPROVAL_HASH.test(sale?.approvalHash ?? '');
    return isComplete && hasHash ? (sale as UnfinishedSale) : null;
  } catch {
    return null;
  }
}

/** Errors after which the approval cannot be used and a new one is needed. */
export const UNUSABLE_APPROVAL_CODES: ReadonlySet<string> = new Set([
  ...['approval_already_used', 'approval_invalid', 'approval_failed', 'insufficient_allowance'],
  ...['transaction_not_found', 'transaction_reverted', 'transaction_replaced'],
]);
