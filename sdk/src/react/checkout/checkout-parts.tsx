import { codeOf } from '../ui/error-messages.ts';
import { ErrorNotice } from '../ui/error-notice.tsx';
import { useFocusOnAppearance } from '../ui/use-focus.ts';
import { FlowProgress } from './flow-progress.tsx';
import type { Step } from './phases.ts';
import type { FlowRun } from './use-flow.ts';

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
  const { state, hashes, reset } = run;
  const panel = useFocusOnAppearance<HTMLDivElement>();
  return (
    <div className="cw-stack cw-focused" ref={panel} tabIndex={-1}>
      <FlowProgress steps={steps} state={state} />
      {state.step === 'failed' && (
        <>
          <ErrorNotice
            error={state.error}
            onRetry={isSafeToRepeat(state) ? onRetry : undefined}
            retryLabel={retryLabel}
          />
          {!isSafeToRepeat(state) && hashes.length > 0 && <TransactionHash hash={hashes.at(-1) ?? ''} />}
          <button type="button" className="cw-button cw-button-quiet" onClick={reset}>
            {isSafeToRepeat(state) ? 'Change something' : 'Start over'}
          </button>
        </>
      )}
    </div>
  );
}

/** A purchase that was sent and not seen to fail may still happen: to repeat it could buy twice. */
export function isSafeToRepeat({ phase, error }: { phase: string | undefined; error: unknown }): boolean {
  return phase !== 'confirming' || ['transaction_reverted', 'transaction_replaced'].includes(codeOf(error));
}

/** Names a transaction; the whole hash can be selected and copied. */
export function TransactionHash({ hash }: { hash: string }) {
  return (
    <p className="cw-small cw-muted">
      Transaction <code className="cw-hash">{hash}</code>
    </p>
  );
}
