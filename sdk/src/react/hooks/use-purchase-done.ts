import { useCallback } from 'react';
import type { Resource } from '../../queries.ts';
import { useInvalidate } from './use-query.ts';

/** The resources that a purchase or its settlement may change. */
const CHANGED_BY_PURCHASE: readonly Resource[] = [
  ...(['participations', 'tokenBalance', 'tokenAllowance'] as const),
  ...(['swapPreview', 'tradingStatus', 'tokenizedOrders'] as const),
];

/** Returns a function that reloads the data a purchase may have changed, in every hook on the page. */
export function usePurchaseDone(): () => void {
  const invalidate = useInvalidate();
  return useCallback(() => invalidate(...CHANGED_BY_PURCHASE), [invalidate]);
}
