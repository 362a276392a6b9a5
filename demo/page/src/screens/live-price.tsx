import { useQuote, useTradingStatus } from '@causeway/sdk/react';
import { useEffect, useState } from 'react';
import { PriceChart, type PricePoint } from './price-chart.tsx';

const EVERY = 2_000;
const KEPT = 180;

/** The price of one token as it is quoted, since this page was opened; and whether the market takes orders. */
export function LivePrice({ symbol }: { symbol: string }) {
  const query = { symbol, side: 'buy', token_amount: '1' } as const;
  const { data: quote, error } = useQuote(query, { every: EVERY });
  const { data: status } = useTradingStatus({ symbol, side: 'buy' }, { every: 5_000 });
  const points = usePoints(symbol, quote);
  const first = points[0];
  const last = points.at(-1);
  const change = first && last ? ((last.price - first.price) / first.price) * 100 : 0;
  return (
    <section className="live-price" aria-label={`Price of ${symbol}`}>
      <header>
        <div>
          <p className="price-name">{symbol}, to buy</p>
          <p className="price-now">{last === undefined ? '—' : dollars(last.price)}</p>
        </div>
        <p className={`price-change ${directionOf(change)}`}>
          {last === undefined ? '' : `${SIGNS[directionOf(change)]}${Math.abs(change).toFixed(2)} %`}
          <span className="soft"> since you opened it</span>
        </p>
      </header>
      <PriceChart points={points} />
      <dl className="price-facts">
        <div>
          <dt>Market</dt>
          <dd>{status === undefined ? '—' : status.tradable ? 'Open' : 'Closed'}</dd>
        </div>
        <div>
          <dt>Largest order</dt>
          <dd>
            {status?.gross_max_notional_value == null
              ? '—'
              : dollars(Number(status.gross_max_notional_value), 0)}
          </dd>
        </div>
        <div>
          <dt>In tokens</dt>
          <dd>
            {status?.gross_max_tokens == null
              ? '—'
              : Number(status.gross_max_tokens).toLocaleString('en', { maximumFractionDigits: 2 })}
          </dd>
        </div>
        <div>
          <dt>Open orders up to</dt>
          <dd>
            {status?.gross_max_active_notional_value == null
              ? '—'
              : dollars(Number(status.gross_max_active_notional_value), 0)}
          </dd>
        </div>
      </dl>
      {error !== undefined && (
        <p className="soft" role="status">
          There is no price at the moment; the last one known is shown.
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

/** Kept for the tab, so that a reload does not empty the chart. */
function usePoints(symbol: string, quote: { price: string } | undefined): readonly PricePoint[] {
  const key = `harbour.prices.${symbol}`;
  const [points, setPoints] = useState<readonly PricePoint[]>(() => recall(key));
  useEffect(() => {
    if (quote === undefined) return;
    setPoints((known) => [...known, { at: Date.now(), price: Number(quote.price) }].slice(-KEPT));
  }, [quote]);
  useEffect(() => sessionStorage.setItem(key, JSON.stringify(points)), [key, points]);
  return points;
}

const RECENT = 10 * 60_000;

function recall(key: string): PricePoint[] {
  try {
    const points = JSON.parse(sessionStorage.getItem(key) ?? '[]') as PricePoint[];
    return points.filter(({ at }) => Date.now() - at < RECENT);
  } catch {
    return [];
  }
}
