import { useInvalidate } from '@causeway/sdk/react';
import { useControl } from './control.ts';

const SESSIONS = [
  ['regular', 'Open'],
  ['offhours', 'After hours'],
  ['closed', 'Closed'],
  [null, 'New York hours'],
] as const;

/** Sets the trading session of the simulated venue. */
export function Market() {
  const invalidate = useInvalidate();
  const { isBusy, message, send } = useControl();
  const set = async (session: string | null, name: string) => {
    if (await send('venue', { session }, `Market: ${name}.`)) invalidate('quote', 'tradingStatus', 'market');
  };
  return (
    <>
      <p className="soft">Where tokenized assets trade. It is open around the clock until you set it here.</p>
      <div className="button-row">
        {SESSIONS.map(([session, name]) => (
          <button
            type="button"
            className="button small"
            key={name}
            disabled={isBusy}
            onClick={() => set(session, name)}
          >
            {name}
          </button>
        ))}
      </div>
      <p role="status" className="faucet-message">
        {message}
      </p>
    </>
  );
}
