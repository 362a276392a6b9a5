import { useInvalidate } from '@causeway/sdk/react';
import { useControl } from './control.ts';

const SESSIONS = [
  ['regular', 'Open'],
  ['offhours', 'After hours'],
  ['closed', 'Closed'],
] as const;

/** Sets the trading session of the simulated venue. */
export function Market() {
  const invalidate = useInvalidate();
  const { isBusy, message, send } = useControl();
  const set = async (session: string, name: string) => {
    if (await send('venue', { session }, `Market set to ${name.toLowerCase()}.`))
      invalidate('quote', 'tradingStatus');
  };
  return (
    <>
      <p className="soft">For tokenized assets. Follows New York trading hours until you change it.</p>
      <div className="button-row">
        {SESSIONS.map(([session, name]) => (
          <button
            type="button"
            className="button small"
            key={session}
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
