import { useState } from 'react';
import { postJson } from '../config.ts';

/** Calls the sandbox's routes. Reports whether a call is in progress, and the result of the last call. */
export function useControl() {
  const [state, setState] = useState({ isBusy: false, message: '' });
  const run = async (work: () => Promise<unknown>, done: string): Promise<boolean> => {
    setState({ isBusy: true, message: '' });
    try {
      await work();
      setState({ isBusy: false, message: done });
      return true;
    } catch (error) {
      setState({ isBusy: false, message: `That didn't work: ${(error as Error).message}` });
      return false;
    }
  };
  const send = (path: string, body: object, done: string) =>
    run(() => postJson(`/sandbox/${path}`, body), done);
  return { ...state, run, send };
}

/** A row of buttons, one per choice. */
export function Choices<T>(props: {
  choices: readonly (readonly [name: string, value: T])[];
  isBusy: boolean;
  onChoose(value: T, name: string): void;
}) {
  return (
    <div className="button-row">
      {props.choices.map(([name, value]) => (
        <button
          type="button"
          className="button small"
          key={name}
          disabled={props.isBusy}
          onClick={() => props.onChoose(value, name)}
        >
          {name}
        </button>
      ))}
    </div>
  );
}

export function ControlMessage({ message }: { message: string }) {
  return (
    <p role="status" className="faucet-message">
      {message}
    </p>
  );
}
