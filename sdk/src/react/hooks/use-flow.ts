import { useCallback, useEffect, useRef, useState } from 'react';
import type { FlowOptions } from '../../flows/flow.ts';
import { useCausewayContext } from '../context.ts';
import { importLate } from '../import-late.ts';
import { codeOf } from '../ui/error-messages.ts';

/** The flows depend on viem, so they are loaded only when a flow starts. */
const loadFlows = () => importLate(() => import('../flows.ts'));
export type Flows = Awaited<ReturnType<typeof loadFlows>>;

export type FlowState<Phase extends string, Result> =
  | { step: 'idle' }
  | { step: 'running'; phase: Phase | undefined }
  | { step: 'failed'; phase: Phase | undefined; error: unknown }
  | { step: 'done'; result: Result };

/** A flow's progress, for display on the page. */
export type FlowView<Phase extends string, Result> = {
  state: FlowState<Phase, Result>;
  /** The transactions sent so far, newest last. */
  hashes: readonly string[];
  /**
   * Whether a failed flow can be retried. False if the purchase may still go through, because a retry could buy twice.
   * Also false while the selected wallet, network or asset differs from the one that the purchase started with.
   */
  canRetry: boolean;
  /** Returns to idle and aborts a running flow. */
  reset(): void;
};

type FlowRun<Phase extends string, Result> = FlowView<Phase, Result> & {
  start(work: (flows: Flows, options: FlowOptions<Phase>) => Promise<Result>): void;
};

/**
 * Runs one flow at a time. Unmounting aborts the flow before its next step. `terms` describes what the flow starts
 * with, such as the wallet. A failed flow can be retried only while `terms` is unchanged.
 */
export function useFlow<Phase extends string, Result>(terms = ''): FlowRun<Phase, Result> {
  const context = useCausewayContext();
  const [state, setState] = useState<FlowState<Phase, Result>>({ step: 'idle' });
  const [hashes, setHashes] = useState<readonly string[]>([]);
  const running = useRef<AbortController | null>(null);
  const startedWith = useRef(terms);
  useEffect(() => () => running.current?.abort(), []);

  const start = useCallback<FlowRun<Phase, Result>['start']>(
    (work) => {
      running.current?.abort();
      const controller = new AbortController();
      const { signal } = controller;
      running.current = controller;
      startedWith.current = terms;
      let phase: Phase | undefined;
      const update = (next: FlowState<Phase, Result>) => !signal.aborted && setState(next);
      const options: FlowOptions<Phase> = {
        // The provider's options, such as `rpcUrls` and `trusted`. Flows ignore the rest of the context.
        ...context,
        signal,
        onPhase: (entered) => {
          phase = entered;
          update({ step: 'running', phase });
        },
        onTransaction: ({ hash }) => !signal.aborted && setHashes((sent) => [...sent, hash]),
      };
      setHashes([]);
      update({ step: 'running', phase });
      loadFlows()
        .then((flows) => work(flows, options))
        .then(
          (result) => update({ step: 'done', result }),
          (error) => update({ step: 'failed', phase, error }),
        );
    },
    [terms, context],
  );
  const reset = useCallback(() => {
    running.current?.abort();
    setState({ step: 'idle' });
    setHashes([]);
  }, []);
  const canRetry = state.step === 'failed' && startedWith.current === terms && isSafeToRetry(state);
  return { state, hashes, canRetry, start, reset };
}

/** Returns false if the purchase may have been sent and may still succeed. A retry could then buy twice. */
export function isSafeToRetry({ phase, error }: { phase: string | undefined; error: unknown }): boolean {
  const code = codeOf(error);
  return phase === 'confirming'
    ? ['transaction_reverted', 'transaction_replaced'].includes(code)
    : !['confirmation_timeout', 'outcome_unknown'].includes(code);
}
