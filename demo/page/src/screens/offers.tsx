import { ErrorNotice, OffersGrid, useOffers } from '@causeway/sdk/react';
import { Link, navigate, usePlace, useTitle } from '../route.tsx';
import { TYPE_NAMES, TYPES } from './offer-types.ts';

export function OffersScreen() {
  const { query } = usePlace();
  const { data, error, refresh } = useOffers();
  const wanted = TYPES.find((type) => type === query.get('type'));
  const shown = wanted === undefined ? TYPES : [wanted];
  useTitle('Offers');
  return (
    <>
      <div className="screen-head">
        <h1>Offers</h1>
        <nav className="tabs" aria-label="Kinds of offers">
          <Tab to="/offers" isCurrent={wanted === undefined} name="All" />
          {TYPES.map((type) => (
            <Tab
              key={type}
              to={`/offers?type=${encodeURIComponent(type)}`}
              isCurrent={wanted === type}
              name={TYPE_NAMES[type].many}
            />
          ))}
        </nav>
      </div>
      {data === undefined && error !== undefined && <ErrorNotice error={error} onRetry={refresh} />}
      {(data === undefined && error !== undefined ? [] : shown).map((type) => (
        <section key={type} className="offer-group">
          <h2>{TYPE_NAMES[type].many}</h2>
          <p className="soft">{TYPE_NAMES[type].about}</p>
          <OffersGrid
            type={type}
            hrefOf={({ slug }) => `/offers/${slug}`}
            onOpen={({ slug }) => navigate(`/offers/${slug}`)}
            empty="There is none at the moment. New ones are announced by mail."
          />
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
