import { useInvalidate } from '@causeway/sdk/react';
import { useState } from 'react';
import { postJson } from '../config.ts';

const SESSIONS = [
  ['regular', 'Open'],
  ['offhours', 'After hours'],
  ['closed', 'Closed'],
] as const;

/** The hours of the simulated venue. */
export function MarketHours() {
  const invalidate = useInvalidate();
  const [said, setSaid] = useState('');
  const set = async (session: string, name: string) => {
    try {
      await postJson('/sandbox/venue', { session });
      invalidate('quote', 'tradingStatus');
      setSaid(`The market is now: ${name.toLowerCase()}.`);
    } catch (error) {
      setSaid(`It did not work: ${(error as Error).message}`);
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
      <p role="status" className="faucet-said">
        {said}
      </p>
    </>
  );
}

/** Beside a trade in the sandbox: nobody has to wait for Monday. */
export function MarketBar() {
  return (
    <aside className="faucet">
      <div>
        <strong>Simulated market</strong>
        <p className="soft">It keeps the hours of New York until you decide.</p>
      </div>
      <MarketHours />
    </aside>
  );
}
