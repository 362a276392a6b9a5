import type { OfferDetails } from '@causeway/sdk';
import {
  ErrorNotice,
  FundSwapCheckout,
  offerState,
  TokenizedCheckout,
  TokenSaleCheckout,
  useOffer,
} from '@causeway/sdk/react';
import { useState } from 'react';
import { useApp } from '../app-context.tsx';
import { BackIcon } from '../icons.tsx';
import { Link, navigate, useLocation, useTitle } from '../route.tsx';
import { openPanel } from '../sandbox/panel-state.ts';
import { LivePrice } from './live-price.tsx';
import { TYPE_LABELS } from './offer-types.ts';

export function InvestScreen({ slug }: { slug: string }) {
  const { data: offer, error, refresh } = useOffer(slug);
  const { config } = useApp();
  useTitle(offer === undefined ? undefined : `${TYPE_LABELS[offer.type].title} ${offer.name}`);
  return (
    <div className={offer?.type === 'tokenized::swap' ? 'invest with-chart' : 'invest'}>
      <Link to={`/offers/${slug}`} className="back">
        <BackIcon size={16} /> {offer?.name ?? 'Back'}
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
            {TYPE_LABELS[offer.type].title} {offer.name}
          </h1>
          <Checkout offer={offer} />
          {config.is_sandbox && (
            <p className="soft">
              Need test money?{' '}
              <button type="button" className="text-button" onClick={openPanel}>
                Open the sandbox panel
              </button>
            </p>
          )}
        </>
      )}
    </div>
  );
}

function Checkout({ offer }: { offer: OfferDetails }) {
  const { query } = useLocation();
  const [isDone, setDone] = useState(false);
  if (offerState(offer) === 'ended') return <p className="notice">This offer has ended.</p>;
  const followUp = isDone && (
    <p className="notice" role="status">
      It's in <Link to="/portfolio">your portfolio</Link>, with a receipt to download.
    </p>
  );
  if (offer.type === 'fund::swap')
    return (
      <>
        <FundSwapCheckout offer={offer} onDone={() => setDone(true)} />
        {followUp}
      </>
    );
  if (offer.type === 'tokenized::swap')
    return (
      <div className="trade">
        <LivePrice symbol={offer.asset.code} />
        <div className="trade-side">
          <TokenizedCheckout offer={offer} onDone={() => setDone(true)} />
          {followUp}
        </div>
      </div>
    );
  const selected = offer.options.find(({ slug }) => slug === query.get('option'));
  const select = (id: string) => {
    const slug = offer.options.find((option) => option.id === id)?.slug ?? '';
    navigate(`/offers/${offer.slug}/invest?option=${slug}`, { replace: true });
  };
  return (
    <>
      <TokenSaleCheckout
        offer={offer}
        optionId={selected?.id}
        onOptionChange={select}
        onDone={() => setDone(true)}
      />
      {followUp}
    </>
  );
}
