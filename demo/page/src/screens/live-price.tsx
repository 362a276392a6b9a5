import type { MarketQuery, TokenizedSwapMarket } from '@causeway/sdk';
import { useMarket, useQuote, useTradingStatus } from '@causeway/sdk/react';
import { useState } from 'react';
import { describeHours, regularHours } from './market-hours.ts';
import { dollars, PriceChange } from './price-change.tsx';
import { PriceChart, type PricePoint } from './price-chart.tsx';

const QUOTE_INTERVAL_MS = 2_000;
const STATUS_INTERVAL_MS = 5_000;
const MARKET_INTERVAL_MS = 60_000;

type Range = NonNullable<MarketQuery['range']>;
const RANGES: readonly { range: Range; name: string; since: string }[] = [
  { range: '1d', name: '1D', since: 'today' },
  { range: '1w', name: '1W', since: 'past week' },
  { range: '1m', name: '1M', since: 'past month' },
  { range: '1y', name: '1Y', since: 'past year' },
];

/** Shows the buy price of one token with its recorded history, and the market's hours and limits. */
export function LivePrice({ symbol }: { symbol: string }) {
  const [range, setRange] = useState<Range>('1d');
  const [pointed, setPointed] = useState<PricePoint>();
  const { data: market, error } = useMarket({ symbol, range }, { pollIntervalMs: MARKET_INTERVAL_MS });
  const { data: status } = useTradingStatus({ symbol, side: 'buy' }, { pollIntervalMs: STATUS_INTERVAL_MS });
  // A closed market has no quotes, so none are requested until the market opens.
  const enabled = status?.tradable === true;
  const isClosed = status?.tradable === false;
  const query = { symbol, side: 'buy', token_amount: '1' } as const;
  const quote = useQuote(query, { pollIntervalMs: QUOTE_INTERVAL_MS, enabled });
  const points = toPoints(market, isClosed ? undefined : quote.data?.price);
  const last = points.at(-1);
  const from = startOf(market, range, points);
  const since = RANGES.find((one) => one.range === range)?.since ?? '';
  const shown = pointed ?? last;
  return (
    <section className={isClosed ? 'live-price closed' : 'live-price'} aria-label={`Price of ${symbol}`}>
      <header>
        <div>
          <p className="price-name">
            {pointed !== undefined
              ? new Date(pointed.at).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'short' })
              : isClosed
                ? `${symbol} last price`
                : `${symbol} buy price`}
          </p>
          <p className="price-now">{shown === undefined ? '—' : dollars(shown.price)}</p>
          {shown !== undefined && from !== undefined ? (
            <PriceChange from={from} to={shown.price} since={pointed === undefined ? since : ''} />
          ) : (
            <p className="price-change">{'\u00a0'}</p>
          )}
        </div>
        <p className={isClosed ? 'market-state closed' : 'market-state'}>
          {status === undefined ? '\u00a0' : isClosed ? 'Market closed' : 'Market open'}
        </p>
      </header>
      <PriceChart points={points} range={range} onPoint={setPointed} isFailing={error !== undefined} />
      <fieldset className="ranges">
        <legend className="visually-hidden">Period of the chart</legend>
        {RANGES.map(({ range: each, name }) => (
          <button
            type="button"
            key={each}
            aria-pressed={each === range}
            onClick={() => {
              setPointed(undefined);
              setRange(each);
            }}
          >
            {name}
          </button>
        ))}
      </fieldset>
      <Facts market={market} maxOrder={status?.gross_max_notional_value ?? null} isClosed={isClosed} />
      {quote.error !== undefined && !isClosed && (
        <p className="soft" role="status">
          No live price right now. Showing the last known price.
        </p>
      )}
    </section>
  );
}

function Facts({
  market,
  maxOrder,
  isClosed,
}: {
  market: TokenizedSwapMarket | undefined;
  maxOrder: string | null;
  isClosed: boolean;
}) {
  const now = new Date();
  const close = market?.previous_close;
  const hours = market === undefined ? '—' : describeHours(market, now);
  return (
    <dl className="price-facts">
      <div>
        <dt>Market</dt>
        {/* The asset itself may be paused while its market is open. */}
        <dd>{isClosed && market?.is_open === true ? 'Paused' : hours}</dd>
      </div>
      <div>
        <dt>Previous close</dt>
        <dd>{close == null ? '—' : dollars(Number(close))}</dd>
      </div>
      <div>
        <dt>Hours in your time</dt>
        <dd>{regularHours(now)}</dd>
      </div>
      <div>
        <dt>Maximum order</dt>
        <dd>{maxOrder === null ? '—' : dollars(Number(maxOrder))}</dd>
      </div>
    </dl>
  );
}

/** Returns the recorded prices, followed by the live price. */
function toPoints(market: TokenizedSwapMarket | undefined, live: string | undefined): PricePoint[] {
  const recorded = (market?.prices.data ?? []).map(({ price, recorded_at }) => ({
    at: Date.parse(recorded_at),
    price: Number(price),
  }));
  return live === undefined ? recorded : [...recorded, { at: Date.now(), price: Number(live) }];
}

/**
 * Returns the price that the change is measured from. For the range `1d`, this is the previous close if known.
 * Otherwise it is the first price of the range, or undefined if there are fewer than two prices.
 */
function startOf(market: TokenizedSwapMarket | undefined, range: Range, points: readonly PricePoint[]) {
  if (range === '1d' && market?.previous_close != null) return Number(market.previous_close);
  return points.length > 1 ? points[0]?.price : undefined;
}
