import type { FlowRun } from '../hooks/use-flow.ts';
import { codeOf } from '../ui/error-messages.ts';
import { ErrorNotice } from '../ui/error-notice.tsx';
import { useFocusOnMount } from '../ui/use-focus-on-mount.ts';
import { FlowProgress } from './flow-progress.tsx';
import type { Step } from './phases.ts';

type Props<Phase extends string> = {
  run: FlowRun<Phase, unknown>;
  steps: readonly Step<Phase>[];
  onRetry(): void;
  retryLabel?: string | undefined;
};

/** Shows the steps of a running or failed flow and, after a failure, the reason and what to do next. */
export function FlowPanel<Phase extends string>(props: Props<Phase>) {
  const { step } = props.run.state;
  return step === 'idle' || step === 'done' ? null : <ActiveFlowPanel {...props} />;
}

function ActiveFlowPanel<Phase extends string>({ run, steps, onRetry, retryLabel }: Props<Phase>) {
  const { state, hashes, reset } = run;
  const panel = useFocusOnMount<HTMLDivElement>();
  return (
    <div className="cw-stack cw-focused" ref={panel} tabIndex={-1}>
      <FlowProgress steps={steps} state={state} />
      {state.step === 'failed' && (
        <>
          <ErrorNotice
            error={state.error}
            onRetry={isSafeToRetry(state) ? onRetry : undefined}
            retryLabel={retryLabel}
          />
          {!isSafeToRetry(state) && hashes.length > 0 && <TransactionHash hash={hashes.at(-1) ?? ''} />}
          <button type="button" className="cw-button cw-button-quiet" onClick={reset}>
            {isSafeToRetry(state) ? 'Edit order' : 'Start over'}
          </button>
        </>
      )}
    </div>
  );
}

/** Returns false if the purchase was sent and may still succeed: a retry could buy twice. */
export function isSafeToRetry({ phase, error }: { phase: string | undefined; error: unknown }): boolean {
  return phase !== 'confirming' || ['transaction_reverted', 'transaction_replaced'].includes(codeOf(error));
}

/** Shows a transaction hash in full, so that it can be copied. */
export function TransactionHash({ hash }: { hash: string }) {
  return (
    <p className="cw-small cw-muted">
      Transaction <code className="cw-hash">{hash}</code>
    </p>
  );
}
