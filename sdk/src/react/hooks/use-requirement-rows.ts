import { useCallback, useEffect, useState } from 'react';
import type { CausewayError } from '../../error.ts';
import { type DescribedStatus, describeStatus } from '../../requirements.ts';
import type { Requirement } from '../../wire.ts';
import { useRequirementStatuses, useRequirements } from './use-offers.ts';

export type RequirementRow = { requirement: Requirement; status: DescribedStatus };

export type RequirementRows = {
  rows: readonly RequirementRow[] | undefined;
  error: CausewayError | undefined;
  done: number;
  isAllDone: boolean;
  /** Says that the user has just done something whose effect may take a moment to come. */
  expectChange(): void;
  refresh(): void;
};

const QUICK = 2_500;
const SLOW = 15_000;
/** How long after an action of the user a change is looked for at the quick pace. */
const EXPECTED_WITHIN = 60_000;

/** The requirements of an option with their statuses, asked again while something is on its way. */
export function useRequirementRows(offerId: string, optionId: string): RequirementRows {
  const requirements = useRequirements(offerId);
  const [expected, setExpected] = useState(0);
  const asked = requirements.data?.options[optionId]?.data;
  const isNeeded = asked === undefined || asked.length > 0;
  const known = useRequirementStatuses(offerId, { enabled: isNeeded });
  const rows =
    asked !== undefined && (known.data !== undefined || asked.length === 0)
      ? asked.map((requirement) => ({
          requirement,
          status: describeStatus(known.data?.statuses[requirement.id]),
        }))
      : undefined;
  const done = rows?.filter(({ status }) => status.status === 'completed').length ?? 0;
  const isAllDone = rows !== undefined && done === rows.length;
  const isMoving = expected > 0 || (rows?.some(({ status }) => status.status === 'in_progress') ?? false);
  useRequirementStatuses(offerId, {
    enabled: isNeeded && !isAllDone,
    every: isMoving ? QUICK : SLOW,
  });

  useEffect(() => {
    if (expected === 0) return;
    const timer = setTimeout(() => setExpected(0), EXPECTED_WITHIN);
    return () => clearTimeout(timer);
  }, [expected]);
  const { refresh: refreshStatuses } = known;
  const expectChange = useCallback(() => {
    setExpected((count) => count + 1);
    void refreshStatuses();
  }, [refreshStatuses]);
  const refresh = () => {
    void requirements.refresh();
    void refreshStatuses();
  };
  const error = requirements.error ?? known.error;
  return { rows, error, done, isAllDone, expectChange, refresh };
}
