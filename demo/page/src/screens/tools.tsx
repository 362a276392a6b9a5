import { useWallet } from '@causeway/sdk/react';
import { useApp } from '../app-context.tsx';
import { Link, useTitle } from '../route.tsx';
import { MarketHours } from './market-hours.tsx';
import { FaucetButton, useFaucet } from './test-money.tsx';

const SIMULATED = [
  ['Money', 'Two chains run on this machine. Their dollars come from a faucet and have no value.'],
  ['Identity', "The provider's page lets you choose its decision: approved, rejected or still under review."],
  ['Signatures', 'The form arrives by email, and you sign it with one click.'],
  ['Market', 'A venue with made-up prices signs real quotes. You decide when it is open.'],
  ['Mail', 'Nothing is really sent. Find all emails on the Mail page.'],
] as const;

export function ToolsScreen() {
  const { config } = useApp();
  useTitle('Sandbox tools');
  return (
    <>
      <div className="screen-head">
        <h1>Sandbox tools</h1>
        <p className="soft">
          The service behind this app is the real one, with the same checks as in production. Only its
          external providers are simulated.
        </p>
      </div>
      <div className="tools">
        <section className="panel">
          <h2>What's simulated</h2>
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
          <TestMoney />
          <section className="panel">
            <h2>Market hours</h2>
            <p className="soft">For tokenized assets. Follows New York trading hours until you change it.</p>
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
                  Addresses, credentials and seed data (JSON)
                </a>
              </li>
            </ul>
          </section>
        </div>
      </div>
    </>
  );
}

function TestMoney() {
  const { config, session } = useApp();
  const { wallet } = useWallet('ethereum');
  const faucet = useFaucet(config.chains, ['usd-coin', 'tether']);
  return (
    <section className="panel">
      <h2>Test money</h2>
      <p className="soft">10,000 USDC and USDT plus gas on both chains, for your connected wallet.</p>
      <FaucetButton faucet={faucet} />
      <p role="status" className="faucet-message">
        {wallet === undefined
          ? session.signed_in
            ? 'Connect a wallet first, using the button at the top.'
            : 'Sign in and connect a wallet first.'
          : faucet.message}
      </p>
    </section>
  );
}
