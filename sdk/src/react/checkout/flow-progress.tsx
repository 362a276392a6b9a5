import { Spinner } from '../ui/elements.tsx';
import type { Step } from './phases.ts';
import type { FlowState } from './use-flow.ts';

/** The steps of a flow, where it stands, and in words what it waits for; announced as it moves. */
export function FlowProgress<Phase extends string>({
  steps,
  state,
}: {
  steps: readonly Step<Phase>[];
  state: FlowState<Phase, unknown>;
}) {
  const phase = state.step === 'running' || state.step === 'failed' ? state.phase : undefined;
  const at = state.step === 'done' ? steps.length : Math.max(0, indexOf(steps, phase));
  const words = phase === undefined ? 'Starting…' : steps[at]?.phases[phase];
  return (
    <div className="cw-progress">
      <ol className="cw-steps">
        {steps.map(({ name }, index) => {
          const where =
            index < at ? 'past' : index === at ? (state.step === 'failed' ? 'stopped' : 'now') : 'next';
          return (
            <li
              key={name}
              className={`cw-step cw-step-${where}`}
              aria-current={where === 'now' ? 'step' : undefined}
            >
              <span className="cw-step-mark" aria-hidden="true">
                {where === 'past' ? '✓' : where === 'stopped' ? '!' : index + 1}
              </span>
              {name}
              {where === 'past' && <span className="cw-hidden"> (done)</span>}
              {where === 'stopped' && <span className="cw-hidden"> (stopped here)</span>}
            </li>
          );
        })}
      </ol>
      <p className="cw-progress-words" role="status">
        {state.step === 'running' && (
          <>
            <Spinner /> {words}
          </>
        )}
      </p>
    </div>
  );
}

function indexOf<Phase extends string>(steps: readonly Step<Phase>[], phase: Phase | undefined): number {
  return steps.findIndex(({ phases }) => phase !== undefined && Object.hasOwn(phases, phase));
}
