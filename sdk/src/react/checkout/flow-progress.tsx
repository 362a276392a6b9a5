import type { FlowState } from '../hooks/use-flow.ts';
import { Spinner } from '../ui/elements.tsx';
import { useUi } from '../ui/ui.tsx';
import type { Step } from './phases.ts';

/** Shows the steps of a flow and announces what the current step is waiting for. */
export function FlowProgress<Phase extends string>({
  steps,
  state,
}: {
  steps: readonly Step<Phase>[];
  state: FlowState<Phase, unknown>;
}) {
  const { cx, t } = useUi();
  const phase = state.step === 'running' || state.step === 'failed' ? state.phase : undefined;
  const current = state.step === 'done' ? steps.length : Math.max(0, indexOf(steps, phase));
  const text = t((phase && steps[current]?.phases[phase]) ?? 'Starting…');
  return (
    <div className="cw-progress">
      <ol className={cx('cw-steps')}>
        {steps.map(({ name }, index) => {
          const position =
            index < current
              ? 'past'
              : index === current
                ? state.step === 'failed'
                  ? 'stopped'
                  : 'now'
                : 'next';
          return (
            <li
              key={name}
              className={cx(`cw-step cw-step-${position}`)}
              aria-current={position === 'now' ? 'step' : undefined}
            >
              <span className="cw-step-mark" aria-hidden="true">
                {position === 'past' ? '✓' : position === 'stopped' ? '!' : index + 1}
              </span>
              {t(name)}
              {position === 'past' && <span className="cw-hidden"> {t('(done)')}</span>}
              {position === 'stopped' && <span className="cw-hidden"> {t('(stopped here)')}</span>}
            </li>
          );
        })}
      </ol>
      <p className="cw-progress-text" role="status">
        {state.step === 'running' && (
          <>
            <Spinner /> {text}
          </>
        )}
      </p>
    </div>
  );
}

function indexOf<Phase extends string>(steps: readonly Step<Phase>[], phase: Phase | undefined): number {
  return steps.findIndex(({ phases }) => phase !== undefined && Object.hasOwn(phases, phase));
}
