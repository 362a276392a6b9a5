import { CHAINS, transactionUrl } from '@causeway/sdk';
import { ErrorNotice, TokenAmount, useParticipation } from '@causeway/sdk/react';
import type { ReactNode } from 'react';
import { BackIcon } from '../icons.tsx';
import {
  type Amount,
  type Entry,
  fromParticipation,
  hasReceipt,
  quantityLabel,
} from '../portfolio/history.ts';
import { downloadReceipt } from '../portfolio/statement.ts';
import { usePortfolio } from '../portfolio/use-portfolio.ts';
import { Link, useTitle } from '../route.tsx';
import { Address, Copyable } from '../shell/copyable.tsx';
import { EntryStatus } from './portfolio.tsx';
import { dollars } from './price-change.tsx';

/** The order page of one investment: amounts, transactions and the receipt. */
export function OrderScreen({ path }: { path: string }) {
  const { portfolio, error, refresh } = usePortfolio();
  const entry = portfolio?.history.find((one) => one.path === path);
  useTitle('Order');
  return (
    <div className="invest">
      <Link to="/portfolio" className="back">
        <BackIcon size={16} /> Portfolio
      </Link>
      {entry !== undefined ? (
        <Order entry={entry} />
      ) : portfolio !== undefined ? (
        <div className="empty-state">
          <h1>Order not found</h1>
          <p>Connect the wallet that you bought it with, and open it from your portfolio.</p>
        </div>
      ) : error !== null ? (
        <ErrorNotice error={error} onRetry={refresh} />
      ) : (
        <div className="side-skeleton" role="status" aria-label="Loading">
          <span className="bone title" />
          <span className="bone block" />
        </div>
      )}
    </div>
  );
}

function Order({ entry }: { entry: Entry }) {
  const [, , kind, id] = entry.path.split('/');
  const { data: participation } = useParticipation(kind === 'sale' ? id : undefined);
  const shown = participation === undefined ? entry : fromParticipation(participation, entry.offer);
  const { offer, at, chain, wallet, paid, fee, received, transactions } = shown;
  return (
    <section className="panel order">
      <h1>{offer.name}</h1>
      <EntryStatus status={shown.status} />
      <dl>
        <Fact name="You paid">
          <TokenAmount units={paid.units} unit={paid} />
        </Fact>
        <Fact name="Fee included">
          {fee.units === 0n ? 'None' : <TokenAmount units={fee.units} unit={fee} />}
        </Fact>
        {received !== null && (
          <Fact name={quantityLabel(received)}>
            <TokenAmount units={received.units} unit={received} />
          </Fact>
        )}
        {received !== null && received.units > 0n && (
          <Fact name="Price">{`${dollars(priceOf(shown, received))} per ${received.code}`}</Fact>
        )}
        <Fact name="Network">{CHAINS[chain].name}</Fact>
        {wallet !== null && (
          <Fact name="Wallet">
            <Address address={wallet} />
          </Fact>
        )}
        <Fact name="Date">
          {new Date(at).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'short' })}
        </Fact>
      </dl>
      <h2>Transactions</h2>
      <ol className="transactions">
        {transactions.map(({ name, hash }) => (
          <li key={hash}>
            <strong>{name}</strong>
            <Copyable text={hash} name="transaction hash" href={transactionUrl(chain, hash)} />
          </li>
        ))}
      </ol>
      {hasReceipt(shown) && (
        <button type="button" className="button" onClick={() => downloadReceipt(shown)}>
          Receipt (PDF)
        </button>
      )}
    </section>
  );
}

/** Returns the dollars paid for one token, without the fee. */
function priceOf({ paid, fee }: Entry, received: Amount): number {
  const toNumber = ({ decimals }: Amount, units: bigint) => Number(units) / 10 ** decimals;
  return toNumber(paid, paid.units - fee.units) / toNumber(received, received.units);
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
