import { useEffect, useState } from 'react';
import { CHAINS } from '../../chains.ts';
import type { Wallet } from '../../flows/wallet.ts';
import { isSameAddress } from '../../same-address.ts';
import type { Chain } from '../../wire.ts';
import { useCausewayContext } from '../context.ts';
import { readItems, writeItem } from '../hooks/local-storage.ts';
import { useSession } from '../hooks/use-session.ts';

/**
 * A purchase that was started and, as far as this browser knows, has no participation yet. The purchase survives
 * reloads.
 */
export type UnfinishedSale = {
  /** Distinguishes this purchase from purchases that other pages have started. */
  id: string;
  offerId: string;
  optionId: string;
  chain: Chain;
  /** The address of the offer's contract. */
  fund: string;
  assetId: string;
  /** In smallest units. */
  amount: string;
  wallet: string;
  /** The hash of the approval transaction or, on Solana, its signature. Null until the wallet reports the approval. */
  approvalHash: string | null;
};

const APPROVAL_HASH = /^(0x[0-9a-f]{64}|[1-9A-HJ-NP-Za-km-z]{64,88})$/i;
/** The event that tells this page about a change in browser storage. Other pages get the browser's `storage` event. */
const CHANGED = 'causeway.sale';

/**
 * Returns the purchases that this user recorded in this browser, and functions to record or remove one. Record a
 * purchase before the wallet opens, because the user may leave the page and approve the purchase afterwards. Each
 * purchase is a separate item in local storage, so that pages never overwrite each other's purchases.
 *
 * Hold the lock named `lock` while you run a purchase, so that only one page at a time buys from this offer. The name
 * is undefined until the session is known.
 */
export function useUnfinishedSales(offerId: string) {
  const { status, user } = useSession();
  const { connected } = useCausewayContext();
  const prefixOf = (userId: string) => `causeway.sale.${userId}.`;
  // If the user's id is unknown, for example because the app's server did not respond, purchases are stored under a
  // prefix that all such users share. Such a purchase is ignored unless its wallet is connected.
  const shared = prefixOf('');
  const own = status === 'loading' ? undefined : prefixOf(user?.id ?? '');
  const isConnected = ({ wallet }: UnfinishedSale) =>
    Object.values(connected).some(({ address }) => isSameAddress(address, wallet));
  const readAll = (prefix: string) => readItems(prefix).flatMap((text) => parseUnfinishedSale(text) ?? []);
  const readOffers = () =>
    own === undefined
      ? []
      : [...(own === shared ? [] : readAll(own)), ...readAll(shared).filter(isConnected)];
  const read = () => readOffers().filter((one) => one.offerId === offerId);
  /** Returns the approved purchases from other offers. */
  const readOthers = () => readOffers().filter((one) => one.approvalHash !== null && one.offerId !== offerId);
  const [sales, setSales] = useState<readonly UnfinishedSale[]>([]);
  useEffect(() => {
    const update = () => setSales(read());
    update();
    for (const event of [CHANGED, 'storage']) addEventListener(event, update);
    return () => {
      for (const event of [CHANGED, 'storage']) removeEventListener(event, update);
    };
  }, [own, offerId, connected]);
  const write = (id: string, sale: UnfinishedSale | null) => {
    if (own === undefined) return;
    writeItem(shared + id, null);
    writeItem(own + id, sale && JSON.stringify(sale));
    dispatchEvent(new Event(CHANGED));
  };
  const record = (sale: UnfinishedSale) => {
    // The new approval replaces the allowance, so earlier purchases that pay from this allowance but have no approval
    // hash can no longer be resumed. Removes their records.
    if (sale.approvalHash !== null)
      for (const one of read())
        if (one.approvalHash === null && isSameAccount(one, sale)) write(one.id, null);
    write(sale.id, sale);
  };
  const lock = own && `causeway.sale.${offerId}`;
  return { lock, sales, read, readOthers, record, remove: (id: string) => write(id, null) };
}

/**
 * Returns whether two purchases pay from the same allowance. Ignores the letter case of addresses, because wallets may
 * change it.
 */
export function isSameAccount(a: UnfinishedSale, b: UnfinishedSale): boolean {
  return isSameAddress(a.wallet, b.wallet) && a.chain === b.chain && a.assetId === b.assetId;
}

/**
 * Returns a recorded purchase that can be finished: preferably one whose approval is known, otherwise one that the
 * connected wallet started and that an open approval of this wallet covers. Ignores approvals without a recorded
 * purchase, because this browser does not know what they are for.
 */
export function findUnfinishedSale(
  recorded: readonly UnfinishedSale[],
  approvals: readonly Pick<UnfinishedSale, 'chain' | 'assetId' | 'amount'>[],
  wallet: Wallet | undefined,
): UnfinishedSale | null {
  const isCovered = (sale: UnfinishedSale) =>
    approvals.some(
      ({ chain, assetId, amount }) =>
        chain === sale.chain && assetId === sale.assetId && BigInt(amount) >= BigInt(sale.amount),
    );
  const isResumable = (sale: UnfinishedSale) =>
    wallet !== undefined && isSameAddress(wallet.address, sale.wallet) && isCovered(sale);
  return findApproved(recorded) ?? recorded.find(isResumable) ?? null;
}

export function findApproved(recorded: readonly UnfinishedSale[]): UnfinishedSale | undefined {
  return recorded.find(({ approvalHash }) => approvalHash !== null);
}

/**
 * Returns the stored record of a purchase or, if only the page's own copy (`known`) has the approval, that copy.
 * Returns undefined if there is no record and the copy has no approval.
 */
export function findLatest(
  recorded: readonly UnfinishedSale[],
  known: UnfinishedSale,
): UnfinishedSale | undefined {
  const stored = recorded.find(({ id }) => id === known.id);
  return known.approvalHash === null || stored?.approvalHash ? stored : known;
}

/** Returns null unless the text is a complete purchase. Browser storage may contain anything. */
export function parseUnfinishedSale(text: string | null): UnfinishedSale | null {
  try {
    const sale = JSON.parse(text ?? 'null') as Partial<UnfinishedSale> | null;
    const strings = [sale?.id, sale?.offerId, sale?.optionId, sale?.fund, sale?.assetId, sale?.wallet];
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

/** Returns the error for a purchase that no longer has a record. */
export function saleClosed(): Error {
  const message = 'The purchase was finished or discarded in another tab.';
  return Object.assign(new Error(message), { code: 'purchase_closed' });
}
