import { useCallback, useEffect, useState } from 'react';
import type { EvmChain } from '../../wire.ts';
import { recall, remember } from '../hooks/storage.ts';

/** A purchase whose approval is on chain but which is not recorded yet; kept over reloads. */
export type UnfinishedSale = {
  optionId: string;
  chain: EvmChain;
  assetId: string;
  /** Smallest units. */
  amount: string;
  wallet: string;
  approvalHash: `0x${string}`;
};

const keyOf = (offerId: string) => `causeway.sale.${offerId}`;

export function useUnfinishedSale(offerId: string) {
  const [sale, setSale] = useState<UnfinishedSale | null>(null);
  useEffect(() => setSale(parseSale(recall(keyOf(offerId)))), [offerId]);
  const keep = useCallback(
    (next: UnfinishedSale | null) => {
      remember(keyOf(offerId), next === null ? null : JSON.stringify(next));
      setSale(next);
    },
    [offerId],
  );
  return [sale, keep] as const;
}

/** Null for what is not one: anything may be in a storage. */
export function parseSale(text: string | null): UnfinishedSale | null {
  try {
    const sale = JSON.parse(text ?? 'null') as Partial<UnfinishedSale> | null;
    const texts = [sale?.optionId, sale?.chain, sale?.assetId, sale?.wallet];
    const isWhole = texts.every((one) => typeof one === 'string') && /^[1-9]\d*$/.test(sale?.amount ?? '');
    return isWhole && /^0x[0-9a-f]{64}$/i.test(sale?.approvalHash ?? '') ? (sale as UnfinishedSale) : null;
  } catch {
    return null;
  }
}

/** After these the approval is of no more use, and a new one is needed. */
export const SPENT: ReadonlySet<string> = new Set([
  ...['approval_already_used', 'approval_invalid', 'approval_failed', 'insufficient_allowance'],
  ...['transaction_not_found', 'transaction_reverted', 'transaction_replaced'],
]);
