import type { Offer } from '@causeway/sdk';
import { useMarket } from '@causeway/sdk/react';
import { Link } from '../route.tsx';
import { describeHours } from './market-hours.ts';
import { directionOf, dollars, PriceChange } from './price-change.tsx';
import { Sparkline } from './price-chart.tsx';

const MARKET_INTERVAL_MS = 60_000;

/** Lists tokenized assets with their last price, the day's change and a sparkline. */
export function MarketList({ offers }: { offers: readonly Offer[] | undefined }) {
  if (offers === undefined)
    return (
      <div className="market-list" role="status" aria-label="Loading">
        {['a', 'b'].map((key) => (
          <span key={key} className="bone market-card" />
        ))}
      </div>
    );
  if (offers.length === 0) return <p>No offers right now. Please check back later.</p>;
  return (
    <ul className="market-list">
      {offers.map((offer) => (
        <li key={offer.id}>
          <MarketCard offer={offer} />
        </li>
      ))}
    </ul>
  );
}

function MarketCard({ offer: { slug, logo_url, summary } }: { offer: Offer }) {
  const symbol = summary?.asset.code;
  const { data: market } = useMarket(symbol === undefined ? undefined : { symbol, range: '1d' }, {
    pollIntervalMs: MARKET_INTERVAL_MS,
  });
  const points = (market?.prices.data ?? []).map(({ price, recorded_at }) => ({
    at: Date.parse(recorded_at),
    price: Number(price),
  }));
  const last = points.at(-1)?.price;
  const from = market?.previous_close == null ? points[0]?.price : Number(market.previous_close);
  const isClosed = market?.is_open === false;
  const change = last === undefined || from === undefined ? 0 : ((last - from) / from) * 100;
  return (
    <article className={isClosed ? 'market-card closed' : 'market-card'}>
      <img src={logo_url} alt="" width={44} height={44} />
      <div className="market-name">
        <h3>
          <Link to={`/offers/${slug}`} className="stretched">
            {summary?.name ?? slug}
          </Link>
        </h3>
        <p className="soft">
          {symbol}
          {market !== undefined && ` · ${describeHours(market, new Date())}`}
          {summary?.fee_bps ? ` · Fee ${(summary.fee_bps / 100).toFixed(2)}%` : ''}
        </p>
      </div>
      <Sparkline points={points} direction={isClosed ? 'flat' : directionOf(change)} />
      <div className="market-price">
        <p>{last === undefined ? '—' : dollars(last)}</p>
        {last !== undefined && from !== undefined && <PriceChange from={from} to={last} />}
      </div>
    </article>
  );
}
