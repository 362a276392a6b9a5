import { useWallet } from '@causeway/sdk/react';
import { useApp } from '../app-context.tsx';
import { Link, useTitle } from '../route.tsx';
import { useFaucet } from './faucet-bar.tsx';
import { MarketHours } from './market-hours.tsx';

const SIMULATED = [
  ['Money', 'Two chains run on this machine. Their dollars are made by a faucet and worth nothing.'],
  [
    'Identity',
    'The provider’s page lets you choose its decision: approved, rejected, or still under review.',
  ],
  ['Signatures', 'The form comes by mail; signing it is one button.'],
  ['Market', 'A venue with made-up prices signs real quotes. You decide whether it is open.'],
  ['Mail', 'Nothing is sent. It is all on the mail page.'],
] as const;

export function ToolsScreen() {
  const { config } = useApp();
  useTitle('Sandbox tools');
  return (
    <>
      <div className="screen-head">
        <h1>Sandbox tools</h1>
        <p className="soft">
          The service behind this app is the real one, with the same checks as in production. Only the other
          end of each wire is simulated.
        </p>
      </div>
      <div className="tools">
        <section className="panel">
          <h2>What is simulated</h2>
          <dl className="simulated">
            {SIMULATED.map(([name, text]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{text}</dd>
              </div>
            ))}
          </dl>
        </section>
        <div className="tools-side">
          <Money />
          <section className="panel">
            <h2>Market hours</h2>
            <p className="soft">For tokenized assets. Without your doing it keeps the hours of New York.</p>
            <MarketHours />
          </section>
          <section className="panel">
            <h2>More</h2>
            <ul className="links">
              <li>
                <Link to="/mail">Mail</Link>
              </li>
              <li>
                <a href={`${config.base_url}/docs`} target="_blank" rel="noreferrer">
                  API reference
                </a>
              </li>
              <li>
                <a href={`${config.base_url}/sandbox`} target="_blank" rel="noreferrer">
                  Addresses, credentials and seeds (JSON)
                </a>
              </li>
            </ul>
          </section>
        </div>
      </div>
    </>
  );
}

function Money() {
  const { config, session } = useApp();
  const { wallet } = useWallet('ethereum');
  const { isBusy, said, fill } = useFaucet();
  return (
    <section className="panel">
      <h2>Test money</h2>
      <p className="soft">10,000 USDC and USDT on both chains, and gas, for the wallet in use.</p>
      <button
        type="button"
        className="button"
        disabled={wallet === undefined || isBusy}
        onClick={() => wallet && fill(config.chains, wallet.address, ['usd-coin', 'tether'])}
      >
        {isBusy ? 'On its way…' : 'Get test money'}
      </button>
      <p role="status" className="faucet-said">
        {wallet === undefined
          ? session.signed_in
            ? 'Connect a wallet first, with the button at the top.'
            : 'Sign in and connect a wallet first.'
          : said}
      </p>
    </section>
  );
}
