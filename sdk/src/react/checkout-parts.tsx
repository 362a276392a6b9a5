import { ErrorNotice } from './error-notice.tsx';
import { FlowProgress } from './flow-progress.tsx';
import type { Step } from './phases.ts';
import type { FlowRun } from './use-flow.ts';

/** A running or stopped flow: its steps, and on failure why and how to go on. */
export function FlowPanel<Phase extends string>({
  run,
  steps,
  onRetry,
  retryLabel,
}: {
  run: FlowRun<Phase, unknown>;
  steps: readonly Step<Phase>[];
  onRetry(): void;
  retryLabel?: string | undefined;
}) {
  const { state, reset } = run;
  if (state.step === 'idle' || state.step === 'done') return null;
  return (
    <div className="cw-stack">
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
