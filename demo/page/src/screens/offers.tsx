import { ErrorNotice, OffersGrid, useOffers } from '@causeway/sdk/react';
import { Link, navigate, useLocation, useTitle } from '../route.tsx';
import { MarketList } from './market-list.tsx';
import { TYPE_LABELS, TYPES } from './offer-types.ts';

export function OffersScreen() {
  const { query } = useLocation();
  const { data, error, refresh } = useOffers();
  const filter = TYPES.find((type) => type === query.get('type'));
  const hasFailed = data === undefined && error !== undefined;
  const types = hasFailed ? [] : filter === undefined ? TYPES : [filter];
  useTitle('Offers');
  return (
    <>
      <div className="screen-head">
        <h1>Offers</h1>
        <nav className="tabs" aria-label="Offer types">
          <Tab to="/offers" isCurrent={filter === undefined} name="All" />
          {TYPES.map((type) => (
            <Tab
              key={type}
              to={`/offers?type=${encodeURIComponent(type)}`}
              isCurrent={filter === type}
              name={TYPE_LABELS[type].plural}
            />
          ))}
        </nav>
      </div>
      {hasFailed && <ErrorNotice error={error} onRetry={refresh} />}
      {types.map((type) => (
        <section key={type} className="offer-group">
          <h2>{TYPE_LABELS[type].plural}</h2>
          <p className="soft">{TYPE_LABELS[type].about}</p>
          {type === 'tokenized::swap' ? (
            <MarketList offers={data?.filter((offer) => offer.type === type)} />
          ) : (
            <OffersGrid
              type={type}
              hrefOf={({ slug }) => `/offers/${slug}`}
              onOpen={({ slug }) => navigate(`/offers/${slug}`)}
              empty="No offers right now. Please check back later."
            />
          )}
        </section>
      ))}
    </>
  );
}

function Tab({ to, name, isCurrent }: { to: string; name: string; isCurrent: boolean }) {
  return (
    <Link to={to} aria-current={isCurrent ? 'page' : undefined}>
      {name}
    </Link>
  );
}
