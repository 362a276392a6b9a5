import { useControl } from './control.ts';

const STEPS = [
  ['1 hour', 3_600],
  ['1 day', 86_400],
  ['30 days', 2_592_000],
] as const;

/** Moves the test clock, which decides when offers open, prices expire and forms lapse. */
export function Clock() {
  const { isBusy, message, send } = useControl();
  return (
    <>
      <p className="soft">Needs a sandbox started with CAUSEWAY_CLOCK=test.</p>
      <div className="button-row">
        {STEPS.map(([name, seconds]) => (
          <button
            type="button"
            className="button small"
            key={name}
            disabled={isBusy}
            onClick={() => send('clock', { advance_seconds: seconds }, `Moved ahead by ${name}.`)}
          >
            {`+ ${name}`}
          </button>
        ))}
      </div>
      <p role="status" className="faucet-message">
        {message}
      </p>
    </>
  );
}
