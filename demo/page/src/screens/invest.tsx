import type { OfferDetails } from '@causeway/sdk';
import {
  ErrorNotice,
  FundSwapCheckout,
  TokenizedCheckout,
  TokenSaleCheckout,
  useOffer,
} from '@causeway/sdk/react';
import { useState } from 'react';
import { useApp } from '../app-context.tsx';
import { BackIcon } from '../icons.tsx';
import { Link, navigate, usePlace, useTitle } from '../route.tsx';
import { FaucetBar } from './faucet-bar.tsx';
import { LivePrice } from './live-price.tsx';
import { MarketBar } from './market-hours.tsx';
import { timeOf } from './offer.tsx';
import { TYPE_NAMES } from './offer-types.ts';

export function InvestScreen({ slug }: { slug: string }) {
  const { data: offer, error, refresh } = useOffer(slug);
  const { config } = useApp();
  useTitle(offer === undefined ? undefined : `${TYPE_NAMES[offer.type].verb} ${offer.name}`);
  return (
    <div className={offer?.type === 'tokenized::swap' ? 'invest with-chart' : 'invest'}>
      <Link to={`/offers/${slug}`} className="back">
        <BackIcon size={16} /> {offer?.name ?? 'The offer'}
      </Link>
      {offer === undefined ? (
        error === undefined ? (
          <div className="side-skeleton" role="status" aria-label="Loading">
            <span className="bone title" />
            <span className="bone block" />
            <span className="bone block" />
          </div>
        ) : (
          <ErrorNotice error={error} onRetry={refresh} />
        )
      ) : (
        <>
          <h1>
            {TYPE_NAMES[offer.type].verb} {offer.name}
          </h1>
          <Checkout offer={offer} />
          {config.is_sandbox && (
            <div className="bars">
              <FaucetBar offer={offer} />
              {offer.type === 'tokenized::swap' && <MarketBar />}
            </div>
          )}
        </>
      )}
    </div>
  );
}

function Checkout({ offer }: { offer: OfferDetails }) {
  const { query } = usePlace();
  const [isDone, setDone] = useState(false);
  if (timeOf(offer) === 'ended') return <p className="notice">This offer has ended.</p>;
  if (offer.type === 'fund::swap') return <FundSwapCheckout offer={offer} />;
  if (offer.type === 'tokenized::swap')
    return (
      <div className="trade">
        <LivePrice symbol={offer.asset.code} />
        <TokenizedCheckout offer={offer} />
      </div>
    );
  const chosen = offer.options.find(({ slug }) => slug === query.get('option'));
  const choose = (id: string) => {
    const slug = offer.options.find((option) => option.id === id)?.slug ?? '';
    navigate(`/offers/${offer.slug}/invest?option=${slug}`, { replace: true });
  };
  return (
    <>
      <TokenSaleCheckout
        offer={offer}
        optionId={chosen?.id}
        onOptionChange={choose}
        onDone={() => setDone(true)}
      />
      {isDone && (
        <p className="notice" role="status">
          It is on the list of <Link to="/participations">your investments</Link> as well.
        </p>
      )}
    </>
  );
}
