import { CHAINS } from '@causeway/sdk';
import { ErrorNotice, StatusBadge, TokenAmount } from '@causeway/sdk/react';
import type { ReactNode } from 'react';
import { download, toCsv } from '../portfolio/download.ts';
import { type Entry, historyTable } from '../portfolio/history.ts';
import type { Holding } from '../portfolio/load.ts';
import { downloadStatement } from '../portfolio/statement.ts';
import { showUsd } from '../portfolio/usd.ts';
import { usePortfolio } from '../portfolio/use-portfolio.ts';
import { Link, useTitle } from '../route.tsx';
import { TYPE_LABELS } from './offer-types.ts';

export function PortfolioScreen() {
  const { portfolio, error, refresh } = usePortfolio();
  useTitle('Portfolio');
  const holdings = portfolio?.holdings ?? [];
  const history = portfolio?.history ?? [];
  const value = holdings.reduce((sum, one) => sum + (one.value ?? 0n), 0n);
  return (
    <>
      <div className="screen-head portfolio-head">
        <div>
          <h1>Portfolio</h1>
          <p className="portfolio-value">{portfolio === undefined ? '—' : showUsd(value)}</p>
        </div>
        <div className="button-row">
          <button
            type="button"
            className="button"
            disabled={history.length === 0}
            onClick={() => download('harbour-history.csv', 'text/csv', toCsv(historyTable(history)))}
          >
            Download CSV
          </button>
          <button
            type="button"
            className="button"
            disabled={history.length === 0}
            onClick={() => downloadStatement(holdings, history)}
          >
            Statement (PDF)
          </button>
        </div>
      </div>
      {error !== null && portfolio === undefined && <ErrorNotice error={error} onRetry={refresh} />}
      {portfolio === undefined && error === null && (
        <div className="portfolio-skeleton" role="status" aria-label="Loading">
          <span className="bone block" />
          <span className="bone block" />
        </div>
      )}
      {portfolio !== undefined && history.length === 0 && holdings.length === 0 && <NothingYet />}
      {history.length + holdings.length > 0 && (
        <>
          <PendingStrip entries={history.filter(({ status }) => status === 'pending')} />
          <Holdings holdings={holdings} />
          <History entries={history} />
        </>
      )}
    </>
  );
}

function NothingYet() {
  return (
    <div className="empty-state">
      <svg width="120" height="80" viewBox="0 0 120 80" aria-hidden="true" className="empty-picture">
        <path d="M8 66h104M20 66V44h16v22M46 66V28h16v38M72 66V38h16v28M98 66V16" />
        <path d="m20 34 18-12 18 6 24-16 18 2" className="empty-line" />
      </svg>
      <h2>You haven't invested yet</h2>
      <p>Your holdings, their value and every order will appear here.</p>
      <Link to="/offers" className="button main">
        Browse offers
      </Link>
    </div>
  );
}

/** Shows pending investments above the settled investments. */
function PendingStrip({ entries }: { entries: readonly Entry[] }) {
  if (entries.length === 0) return null;
  return (
    <section className="pending-strip" aria-label="In progress">
      {entries.map((entry) => (
        <Link key={entry.path} to={entry.path}>
          <StatusBadge tone="busy">In progress</StatusBadge>
          <span>
            <TokenAmount units={entry.paid.units} unit={entry.paid} /> in {entry.offer.name}
          </span>
        </Link>
      ))}
    </section>
  );
}

function Holdings({ holdings }: { holdings: readonly Holding[] }) {
  if (holdings.length === 0) return null;
  return (
    <section className="portfolio-section">
      <h2>Holdings</h2>
      <div className="table-scroll">
        <table className="table">
          <thead>
            <tr>
              <th scope="col">Asset</th>
              <th scope="col">Network</th>
              <th scope="col">Quantity</th>
              <th scope="col">Value</th>
              <th scope="col">Gain</th>
            </tr>
          </thead>
          <tbody>
            {holdings.map((holding) => (
              <HoldingRow key={`${holding.offer.id} ${holding.chain}`} holding={holding} />
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function HoldingRow({ holding: { offer, chain, quantity, value, cost, gain } }: { holding: Holding }) {
  return (
    <tr>
      <th scope="row">
        <Link to={`/offers/${offer.slug}`}>{offer.name}</Link>
        <span className="soft holding-kind">{TYPE_LABELS[offer.type].singular}</span>
      </th>
      <td data-label="Network">{CHAINS[chain].name}</td>
      <td data-label="Quantity">
        <span>
          {quantity.isEstimate && 'about '}
          <TokenAmount units={quantity.units} unit={quantity} />
        </span>
      </td>
      <td data-label="Value">{value === null ? '—' : showUsd(value)}</td>
      <td data-label="Gain">{gain === null ? '—' : <Gain gain={gain} cost={cost} />}</td>
    </tr>
  );
}

function Gain({ gain, cost }: { gain: bigint; cost: bigint }) {
  const percent = Number((gain * 10_000n) / cost) / 100;
  // A gain of less than a cent comes from rounding, so it is shown as flat.
  const cents = gain / 10_000n;
  const direction = cents > 0n ? 'up' : cents < 0n ? 'down' : 'flat';
  const sign = cents > 0n ? '+' : '';
  return (
    <span
      className={`price-change ${direction}`}
    >{`${sign}${showUsd(gain)} (${percent.toFixed(2).replace('-', '−')}%)`}</span>
  );
}

const STATUS_TONES = {
  pending: ['busy', 'In progress'],
  completed: ['good', 'Completed'],
  failed: ['bad', 'Failed'],
  refunded: ['neutral', 'Refunded'],
  expired: ['neutral', 'Expired'],
} as const;

export function EntryStatus({ status }: { status: Entry['status'] }): ReactNode {
  const [tone, label] = STATUS_TONES[status];
  return <StatusBadge tone={tone}>{label}</StatusBadge>;
}

function History({ entries }: { entries: readonly Entry[] }) {
  return (
    <section className="portfolio-section">
      <h2>History</h2>
      <ul className="history">
        {entries.map((entry) => (
          <li key={entry.path}>
            <div>
              <Link to={entry.path}>{entry.offer.name}</Link>
              <span className="soft">
                {new Date(entry.at).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'short' })} ·{' '}
                {CHAINS[entry.chain].name}
              </span>
            </div>
            <div className="history-end">
              <TokenAmount units={entry.paid.units} unit={entry.paid} />
              <EntryStatus status={entry.status} />
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}
