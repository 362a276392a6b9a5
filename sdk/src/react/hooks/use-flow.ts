import { useCallback, useEffect, useRef, useState } from 'react';
import type { FlowOptions } from '../../flows/flow.ts';
import { useCausewayContext } from '../context.ts';

/** The flows depend on viem, so they load only when one starts. */
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
  /** Returns to idle and aborts a running flow. */
  reset(): void;
};

/** Runs one flow at a time; unmounting aborts it before its next step. */
export function useFlow<Phase extends string, Result>(): FlowRun<Phase, Result> {
  const { rpcUrls, trusted, publicClient, batching } = useCausewayContext();
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
      const update = (next: FlowState<Phase, Result>) => !signal.aborted && setState(next);
      const options: FlowOptions<Phase> = {
        signal,
        rpcUrls,
        trusted,
        publicClient,
        batching,
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
    [rpcUrls, trusted, publicClient, batching],
  );
  const reset = useCallback(() => {
    running.current?.abort();
    setState({ step: 'idle' });
    setHashes([]);
  }, []);
  return { state, hashes, start, reset };
}
