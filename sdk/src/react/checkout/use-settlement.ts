import { useEffect } from 'react';
import type { Participation } from '../../wire.ts';
import { usePurchaseDone } from '../hooks/use-purchase-done.ts';
import { useParticipation } from '../hooks/use-user.ts';
import { isInProgress } from '../ui/labels.ts';

const POLL_INTERVAL_MS = 2_500;

/**
 * Returns the latest state of a participation that was just recorded. Whenever the participation's status changes,
 * reloads all queries that a settlement affects, such as lists of participations and balances.
 */
export function useSettlement(recorded: Participation | undefined): Participation | undefined {
  const invalidatePurchase = usePurchaseDone();
  const { data = recorded } = useParticipation(recorded?.id);
  useParticipation(recorded?.id, {
    pollIntervalMs: POLL_INTERVAL_MS,
    enabled: data !== undefined && isInProgress(data.status),
  });
  const hasChanged = data?.status !== recorded?.status;
  useEffect(() => {
    if (hasChanged) invalidatePurchase();
  }, [hasChanged, data?.status, invalidatePurchase]);
  return data;
}
