import { useCallback, useEffect, useRef, useState } from 'react';
import type { FlowOptions } from '../../flows/flow.ts';
import { useCausewayContext } from '../context.ts';

/** The flows bring viem along, so they are loaded when one begins. */
const loadFlows = () => import('../../flows/index.ts');
export type Flows = Awaited<ReturnType<typeof loadFlows>>;

export type FlowState<Phase extends string, Result> =
  | { step: 'idle' }
  | { step: 'running'; phase: Phase | undefined }
  | { step: 'failed'; phase: Phase | undefined; error: unknown }
  | { step: 'done'; result: Result };

export type FlowRun<Phase extends string, Result> = {
  state: FlowState<Phase, Result>;
  /** The transactions sent so far, newest last. */
  hashes: readonly string[];
  start(work: (flows: Flows, options: FlowOptions<Phase>) => Promise<Result>): void;
  /** Back to the beginning; stops what runs. */
  reset(): void;
};

/** Runs one flow at a time for a component; leaving the page stops it before its next step. */
export function useFlow<Phase extends string, Result>(): FlowRun<Phase, Result> {
  const { rpcUrls } = useCausewayContext();
  const [state, setState] = useState<FlowState<Phase, Result>>({ step: 'idle' });
  const [hashes, setHashes] = useState<readonly string[]>([]);
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);

  const start = useCallback<FlowRun<Phase, Result>['start']>(
    (work) => {
      running.current?.abort();
      const controller = new AbortController();
      const { signal } = controller;
      running.current = controller;
      let phase: Phase | undefined;
      const tell = (next: FlowState<Phase, Result>) => !signal.aborted && setState(next);
      const options: FlowOptions<Phase> = {
        signal,
        rpcUrls,
        onPhase: (entered) => {
          phase = entered;
          tell({ step: 'running', phase });
        },
        onTransaction: ({ hash }) => !signal.aborted && setHashes((known) => [...known, hash]),
      };
      setHashes([]);
      tell({ step: 'running', phase });
      loadFlows()
        .then((flows) => work(flows, options))
        .then(
          (result) => tell({ step: 'done', result }),
          (error) => tell({ step: 'failed', phase, error }),
        );
    },
    [rpcUrls],
  );
  const reset = useCallback(() => {
    running.current?.abort();
    setState({ step: 'idle' });
    setHashes([]);
  }, []);
  return { state, hashes, start, reset };
}
