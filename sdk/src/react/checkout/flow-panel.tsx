import type { FlowView } from '../hooks/use-flow.ts';
import { ErrorNotice } from '../ui/error-notice.tsx';
import { useUi } from '../ui/ui.tsx';
import { useFocusOnMount } from '../ui/use-focus-on-mount.ts';
import { FlowProgress } from './flow-progress.tsx';
import type { Step } from './phases.ts';

type Props<Phase extends string> = {
  run: FlowView<Phase, unknown>;
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
  const { cx, t } = useUi();
  const { state, hashes, canRetry, reset } = run;
  const panel = useFocusOnMount<HTMLDivElement>();
  return (
    <div className="cw-stack cw-focused" ref={panel} tabIndex={-1}>
      <FlowProgress steps={steps} state={state} />
      {state.step === 'failed' && (
        <>
          <ErrorNotice error={state.error} onRetry={canRetry ? onRetry : undefined} retryLabel={retryLabel} />
          {!canRetry && hashes.length > 0 && <TransactionHash hash={hashes.at(-1) ?? ''} />}
          <button type="button" className={cx('cw-button cw-button-quiet')} onClick={reset}>
            {t(canRetry ? 'Edit order' : 'Start over')}
          </button>
        </>
      )}
    </div>
  );
}

/** Shows a transaction hash in full, so that it can be copied. */
function TransactionHash({ hash }: { hash: string }) {
  const { cx, t } = useUi();
  return (
    <p className={cx('cw-small cw-muted')}>
      {t('Transaction')} <code className="cw-hash">{hash}</code>
    </p>
  );
}
