import { Choices, ControlMessage, useControl } from './control.tsx';

const STEPS = [
  ['+ 1 hour', 3_600],
  ['+ 1 day', 86_400],
  ['+ 30 days', 2_592_000],
] as const;

/** Moves the test clock, which determines when offers open, and when prices and forms expire. */
export function Clock() {
  const { isBusy, message, send } = useControl();
  return (
    <>
      <p className="soft">Needs a sandbox started with CAUSEWAY_CLOCK=test.</p>
      <Choices
        {...{ choices: STEPS, isBusy }}
        onChoose={(seconds, name) =>
          send('clock', { advance_seconds: seconds }, `Moved ahead by ${name.slice(2)}.`)
        }
      />
      <ControlMessage message={message} />
    </>
  );
}
