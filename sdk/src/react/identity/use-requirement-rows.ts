import { useCallback, useEffect, useRef, useState } from 'react';
import type { CausewayError } from '../../error.ts';
import { type DescribedStatus, describeStatus } from '../../requirements.ts';
import type { Requirement } from '../../wire.ts';
import { useRequirementStatuses, useRequirements } from '../hooks/use-offers.ts';
import { useInvalidate } from '../hooks/use-query.ts';
import { STEP_SECONDS } from '../ui/labels.ts';

export type RequirementRow = { requirement: Requirement; status: DescribedStatus };

export type RequirementRows = {
  rows: readonly RequirementRow[] | undefined;
  error: CausewayError | undefined;
  done: number;
  isAllDone: boolean;
  /** Polls faster for a while. Call it after a user action whose effect may take a moment to show. */
  expectChange(): void;
  refresh(): void;
};

const FAST_POLL_INTERVAL_MS = 2_500;
const SLOW_POLL_INTERVAL_MS = 15_000;
/** How long after a user action to poll at the fast interval. */
const FAST_POLL_DURATION_MS = 60_000;

/** Returns an option's requirements with their statuses, polling until all are met. */
export function useRequirementRows(offerId: string, optionId: string): RequirementRows {
  const requirements = useRequirements(offerId);
  const [expectedChanges, setExpectedChanges] = useState(0);
  const list = requirements.data?.options[optionId]?.data;
  const needsStatuses = list === undefined || list.length > 0;
  const statuses = useRequirementStatuses(offerId, { enabled: needsStatuses });
  const rows =
    list !== undefined && (statuses.data !== undefined || list.length === 0)
      ? list.map((requirement) => ({
          requirement,
          status: describeStatus(statuses.data?.statuses[requirement.id]),
        }))
      : undefined;
  const done = rows?.filter(({ status }) => status.status === 'completed').length ?? 0;
  const isAllDone = rows !== undefined && done === rows.length;
  const isChanging =
    expectedChanges > 0 || (rows?.some(({ status }) => status.status === 'in_progress') ?? false);
  useRequirementStatuses(offerId, {
    enabled: needsStatuses && !isAllDone,
    pollIntervalMs: isChanging ? FAST_POLL_INTERVAL_MS : SLOW_POLL_INTERVAL_MS,
  });

  useEffect(() => {
    if (expectedChanges === 0) return;
    const timer = setTimeout(() => setExpectedChanges(0), FAST_POLL_DURATION_MS);
    return () => clearTimeout(timer);
  }, [expectedChanges]);
  const { refresh: refreshStatuses } = statuses;
  const invalidate = useInvalidate();
  const expectChange = useCallback(() => {
    setExpectedChanges((count) => count + 1);
    invalidate('eligibility', 'requirements');
    void refreshStatuses();
  }, [refreshStatuses, invalidate]);
  // A status change may also change what blocks the user.
  const states = rows?.map(({ status }) => status.status).join();
  const previousStates = useRef(states);
  useEffect(() => {
    if (previousStates.current !== undefined && previousStates.current !== states) invalidate('eligibility');
    previousStates.current = states;
  }, [states, invalidate]);
  const refresh = () => {
    void requirements.refresh();
    void refreshStatuses();
  };
  const error = requirements.error ?? statuses.error;
  return { rows, error, done, isAllDone, expectChange, refresh };
}

/** Returns whether the step is waiting for the user. */
export function isOpenStep({ status }: RequirementRow): boolean {
  return status.status === 'not_started' || status.status === 'action_needed';
}

/** Returns how many steps are left for the user, and about how many minutes they will take. */
export function remainingSteps(rows: readonly RequirementRow[]): { steps: number; minutes: number } {
  const left = rows.filter(isOpenStep);
  const seconds = left.reduce((sum, { requirement }) => sum + STEP_SECONDS[requirement.type], 0);
  return { steps: left.length, minutes: Math.max(1, Math.round(seconds / 60)) };
}

/**
 * Returns the user's progress through an option's requirements. `total` and `done` count the requirements. `steps` is
 * how many steps the user still has to take, and `minutes` is about how long these steps take. Returns undefined until
 * the requirements have loaded.
 *
 * @example
 * ```tsx
 * import { useRequirementProgress } from '@causeway/sdk/react';
 *
 * function Start({ offerId, optionId }: { offerId: string; optionId: string }) {
 *   const progress = useRequirementProgress(offerId, optionId);
 *   return <button type="button">{progress?.steps ? `Start: ${progress.steps} steps` : 'Invest'}</button>;
 * }
 * ```
 */
export function useRequirementProgress(
  offerId: string,
  optionId: string | undefined,
): { total: number; done: number; steps: number; minutes: number } | undefined {
  const { rows, done } = useRequirementRows(offerId, optionId ?? '');
  return rows && { total: rows.length, done, ...remainingSteps(rows) };
}
