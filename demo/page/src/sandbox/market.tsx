import { useInvalidate } from '@causeway/sdk/react';
import { Choices, ControlMessage, useControl } from './control.tsx';

const SESSIONS = [
  ['Open', 'regular'],
  ['After hours', 'offhours'],
  ['Closed', 'closed'],
  ['New York hours', null],
] as const;

/** Sets the simulated venue's trading session. */
export function Market() {
  const invalidate = useInvalidate();
  const { isBusy, message, send } = useControl();
  const set = async (session: string | null, name: string) => {
    if (await send('venue', { session }, `Market: ${name}.`)) invalidate('quote', 'tradingStatus', 'market');
  };
  return (
    <>
      <p className="soft">
        Where tokenized assets trade. It is open around the clock until you choose a session here.
      </p>
      <Choices {...{ choices: SESSIONS, isBusy }} onChoose={set} />
      <ControlMessage message={message} />
    </>
  );
}
