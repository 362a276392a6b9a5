import { useQuote, useTradingStatus } from '@causeway/sdk/react';
import { useEffect, useState } from 'react';
import { PriceChart, type PricePoint } from './price-chart.tsx';

const QUOTE_INTERVAL_MS = 2_000;
const STATUS_INTERVAL_MS = 5_000;
const MAX_POINTS = 180;
const POINT_TTL_MS = 10 * 60_000;

/** Shows the buy price of one token with a price chart, and the market's status and limits. */
export function LivePrice({ symbol }: { symbol: string }) {
  const query = { symbol, side: 'buy', token_amount: '1' } as const;
  const { data: status } = useTradingStatus({ symbol, side: 'buy' }, { pollIntervalMs: STATUS_INTERVAL_MS });
  // A closed market has no quotes, so nothing asks for them until it opens.
  const enabled = status?.tradable === true;
  const isClosed = status?.tradable === false;
  const { data: quote, error } = useQuote(query, { pollIntervalMs: QUOTE_INTERVAL_MS, enabled });
  const points = usePriceHistory(symbol, quote);
  const first = points[0];
  const last = points.at(-1);
  const change = first && last ? ((last.price - first.price) / first.price) * 100 : 0;
  return (
    <section className={isClosed ? 'live-price closed' : 'live-price'} aria-label={`Price of ${symbol}`}>
      <header>
        <div>
          <p className="price-name">
            {isClosed ? `${symbol} last price, market closed` : `${symbol} buy price`}
          </p>
          <p className="price-now">{last === undefined ? '—' : dollars(last.price)}</p>
        </div>
        <p className={`price-change ${directionOf(change)}`}>
          {last === undefined ? '' : `${SIGNS[directionOf(change)]}${Math.abs(change).toFixed(2)}%`}
          <span className="soft"> since you opened this page</span>
        </p>
      </header>
      <PriceChart points={points} />
      <dl className="price-facts">
        <div>
          <dt>Market</dt>
          <dd>{status === undefined ? '—' : status.tradable ? 'Open' : 'Closed'}</dd>
        </div>
        <div>
          <dt>Maximum order</dt>
          <dd>
            {status?.gross_max_notional_value == null
              ? '—'
              : dollars(Number(status.gross_max_notional_value), 0)}
          </dd>
        </div>
        <div>
          <dt>Maximum tokens</dt>
          <dd>
            {status?.gross_max_tokens == null
              ? '—'
              : Number(status.gross_max_tokens).toLocaleString('en', { maximumFractionDigits: 2 })}
          </dd>
        </div>
        <div>
          <dt>Open order limit</dt>
          <dd>
            {status?.gross_max_active_notional_value == null
              ? '—'
              : dollars(Number(status.gross_max_active_notional_value), 0)}
          </dd>
        </div>
      </dl>
      {error !== undefined && (
        <p className="soft" role="status">
          No live price right now. Showing the last known price.
        </p>
      )}
    </section>
  );
}

const SIGNS = { up: '+', down: '−', flat: '' } as const;

function directionOf(percent: number): keyof typeof SIGNS {
  if (Math.abs(percent) < 0.005) return 'flat';
  return percent < 0 ? 'down' : 'up';
}

function dollars(value: number, digits = 2): string {
  return value.toLocaleString('en', { style: 'currency', currency: 'USD', maximumFractionDigits: digits });
}

/**
 * Collects the quotes received in this tab; they survive a reload, so that the chart does not start empty.
 */
function usePriceHistory(symbol: string, quote: { price: string } | undefined): readonly PricePoint[] {
  const key = `harbour.prices.${symbol}`;
  const [points, setPoints] = useState<readonly PricePoint[]>(() => loadPoints(key));
  useEffect(() => {
    if (quote === undefined) return;
    setPoints((previous) => [...previous, { at: Date.now(), price: Number(quote.price) }].slice(-MAX_POINTS));
  }, [quote]);
  useEffect(() => sessionStorage.setItem(key, JSON.stringify(points)), [key, points]);
  return points;
}

function loadPoints(key: string): PricePoint[] {
  try {
    const points = JSON.parse(sessionStorage.getItem(key) ?? '[]') as PricePoint[];
    return points.filter(({ at }) => Date.now() - at < POINT_TTL_MS);
  } catch {
    return [];
  }
}
