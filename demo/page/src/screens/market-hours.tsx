import { useInvalidate } from '@causeway/sdk/react';
import { useState } from 'react';
import { postJson } from '../config.ts';

const SESSIONS = [
  ['regular', 'Open'],
  ['offhours', 'After hours'],
  ['closed', 'Closed'],
] as const;

/** Sets the trading session of the simulated venue. */
export function MarketHours() {
  const invalidate = useInvalidate();
  const [message, setMessage] = useState('');
  const set = async (session: string, name: string) => {
    try {
      await postJson('/sandbox/venue', { session });
      invalidate('quote', 'tradingStatus');
      setMessage(`Market set to ${name.toLowerCase()}.`);
    } catch (error) {
      setMessage(`That didn't work: ${(error as Error).message}`);
    }
  };
  return (
    <>
      <div className="button-row">
        {SESSIONS.map(([session, name]) => (
          <button type="button" className="button" key={session} onClick={() => set(session, name)}>
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

/** Shows the market controls next to the trade form, so that nobody has to wait for the market to open. */
export function MarketBar() {
  return (
    <aside className="faucet">
      <div>
        <strong>Simulated market</strong>
        <p className="soft">Follows New York trading hours until you change it.</p>
      </div>
      <MarketHours />
    </aside>
  );
}
