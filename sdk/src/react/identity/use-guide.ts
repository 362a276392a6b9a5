import { useEffect, useRef, useState } from 'react';
import type { RequirementRow } from './use-requirement-rows.ts';

/** If the review of a step takes longer than this, the next step does not start automatically. */
const MAX_REVIEW_MS = 30_000;
const ACTIONS = ['pointerdown', 'keydown'] as const;

export type StepGuide = {
  /**
   * True if the step must start without a click: the user has just finished the previous step, or `startSignal` has
   * changed.
   */
  isStarting: boolean;
  /** Called when the user starts the step. */
  onStart(): void;
  /** Called when the user leaves the step unfinished, or when the step fails. */
  onStop(): void;
};

type Current = { id: string; isStarting: boolean };

type GuideOptions = {
  /** Undefined until the rows are loaded. */
  rows: readonly RequirementRow[] | undefined;
  /** The next step that the user may take. */
  next: RequirementRow | undefined;
  /** When this number changes, the next step starts as soon as the rows are loaded. */
  startSignal: number;
  /** Called before the next step starts. */
  onNext(): void;
};

/** Whenever the user finishes a step, starts the next one, until the user leaves a step unfinished. */
export function useGuide({ rows, next, startSignal, onNext }: GuideOptions) {
  const [current, setCurrent] = useState<Current | null>(null);
  const isRejected = rows?.some(({ status }) => status.status === 'rejected');
  const startNext = () => {
    onNext();
    setCurrent(next === undefined || isRejected ? null : { id: next.requirement.id, isStarting: true });
  };
  const handled = useRef(startSignal);
  useEffect(() => {
    if (!rows || handled.current === startSignal) return;
    handled.current = startSignal;
    startNext();
  }, [startSignal, !rows]);
  const status = rows?.find(({ requirement }) => requirement.id === current?.id)?.status.status;
  useEffect(() => {
    if (status === 'completed') startNext();
    if (status !== 'in_progress') return;
    // Stops if the user does something else during the review or if the review takes long, so that the next step does
    // not interrupt the user.
    const stop = () => setCurrent(null);
    const timer = setTimeout(stop, MAX_REVIEW_MS);
    for (const type of ACTIONS) document.addEventListener(type, stop);
    return () => {
      clearTimeout(timer);
      for (const type of ACTIONS) document.removeEventListener(type, stop);
    };
  }, [status, current?.id]);
  return (row: RequirementRow): StepGuide => {
    const { id } = row.requirement;
    return {
      isStarting: current?.id === id && current.isStarting,
      // Repeating a completed step, for example to add another wallet, does not start the next one.
      onStart: () => setCurrent(row.status.status === 'completed' ? null : { id, isStarting: false }),
      onStop: () => setCurrent((one) => (one?.id === id ? null : one)),
    };
  };
}
