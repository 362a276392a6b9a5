import { ErrorNotice } from './error-notice.tsx';
import { FlowProgress } from './flow-progress.tsx';
import type { Step } from './phases.ts';
import type { FlowRun } from './use-flow.ts';
import { useFocusOnAppearance } from './use-focus.ts';

/** A running or stopped flow: its steps, and on failure why and how to go on. */
export function FlowPanel<Phase extends string>({ run, steps, onRetry, retryLabel }: PanelProps<Phase>) {
  const { step } = run.state;
  return step === 'idle' || step === 'done' ? null : <Moving {...{ run, steps, onRetry, retryLabel }} />;
}

type PanelProps<Phase extends string> = {
  run: FlowRun<Phase, unknown>;
  steps: readonly Step<Phase>[];
  onRetry(): void;
  retryLabel?: string | undefined;
};

function Moving<Phase extends string>({ run, steps, onRetry, retryLabel }: PanelProps<Phase>) {
  const { state, reset } = run;
  const panel = useFocusOnAppearance<HTMLDivElement>();
  return (
    <div className="cw-stack cw-focused" ref={panel} tabIndex={-1}>
      <FlowProgress steps={steps} state={state} />
      {state.step === 'failed' && (
        <>
          <ErrorNotice error={state.error} onRetry={onRetry} retryLabel={retryLabel} />
          <button type="button" className="cw-button cw-button-quiet" onClick={reset}>
            Change something
          </button>
        </>
      )}
    </div>
  );
}

/** Names a transaction; the whole hash can be selected and copied. */
export function TransactionHash({ hash }: { hash: string }) {
  return (
    <p className="cw-small cw-muted">
      Transaction <code className="cw-hash">{hash}</code>
    </p>
  );
}
