import type { OfferDetails, OfferOption } from '@causeway/sdk';
import {
  Countdown,
  ErrorNotice,
  OfferFaq,
  OfferHeader,
  OfferLinks,
  OfferMilestones,
  OfferTerms,
  RequirementsChecklist,
  useOffer,
} from '@causeway/sdk/react';
import { BackIcon } from '../icons.tsx';
import { Link, navigate, usePlace, useTitle } from '../route.tsx';
import { LivePrice } from './live-price.tsx';
import { describeOption } from './offer-option.ts';
import { TYPE_NAMES } from './offer-types.ts';

export function OfferScreen({ slug }: { slug: string }) {
  const { data: offer, error, refresh } = useOffer(slug, { every: 60_000 });
  const { query } = usePlace();
  const chosen = offer?.options.find((option) => option.slug === query.get('option')) ?? offer?.options[0];
  useTitle(offer?.name);
  if (offer === undefined && error !== undefined)
    return (
      <>
        <BackToOffers />
        <ErrorNotice error={error} onRetry={refresh} />
      </>
    );
  if (offer === undefined) return <OfferSkeleton />;
  return (
    <>
      <BackToOffers />
      <div className="offer-page">
        <div className="offer-main">
          <OfferHeader offer={offer} />
          {offer.type === 'tokenized::swap' && <LivePrice symbol={offer.asset.code} />}
          <OfferTerms offer={offer} optionId={chosen?.id} />
          <OfferMilestones offer={offer} />
          <OfferFaq offer={offer} />
          <OfferLinks offer={offer} />
        </div>
        <aside className="offer-side">
          <Side offer={offer} chosen={chosen} />
        </aside>
      </div>
    </>
  );
}

function BackToOffers() {
  return (
    <Link to="/offers" className="back">
      <BackIcon size={16} /> Offers
    </Link>
  );
}

export function timeOf(offer: Pick<OfferDetails, 'starts_at' | 'ends_at'>, now = Date.now()) {
  if (offer.starts_at !== null && Date.parse(offer.starts_at) > now) return 'upcoming';
  return offer.ends_at !== null && Date.parse(offer.ends_at) <= now ? 'ended' : 'open';
}

/** What to do with the offer: its time, its options, what is asked, and the way on. */
function Side({ offer, chosen }: { offer: OfferDetails; chosen: OfferOption | undefined }) {
  const time = timeOf(offer);
  const { action } = TYPE_NAMES[offer.type];
  const next = `/offers/${offer.slug}/invest${chosen === undefined ? '' : `?option=${chosen.slug}`}`;
  return (
    <>
      <Clock offer={offer} />
      {offer.options.length > 1 && (
        <fieldset className="options">
          <legend>Choose how you take part</legend>
          {offer.options.map((option) => {
            const { title, details } = describeOption(option);
            return (
              <label key={option.id} className="option">
                <input
                  type="radio"
                  name="option"
                  checked={option.id === chosen?.id}
                  onChange={() => navigate(`/offers/${offer.slug}?option=${option.slug}`, { replace: true })}
                />
                <span>
                  <strong>{title}</strong>
                  <span className="soft">{details}</span>
                </span>
              </label>
            );
          })}
        </fieldset>
      )}
      {time === 'open' ? (
        <Link to={next} className="button main wide">
          {action}
        </Link>
      ) : (
        <p className="notice">
          {time === 'ended'
            ? 'This offer has ended. What you hold of it is under Investments.'
            : 'This offer has not started. You can already do what it asks for.'}
        </p>
      )}
      {chosen !== undefined && <RequirementsChecklist key={chosen.id} offer={offer} optionId={chosen.id} />}
    </>
  );
}

function Clock({ offer: { starts_at, ends_at } }: { offer: OfferDetails }) {
  const time = timeOf({ starts_at, ends_at });
  if (time === 'upcoming' && starts_at !== null)
    return (
      <div className="clock">
        <Countdown to={starts_at} label="Starts in" over="It has started." />
      </div>
    );
  if (time === 'open' && ends_at !== null)
    return (
      <div className="clock">
        <Countdown to={ends_at} label="Ends in" over="It has ended." />
      </div>
    );
  return null;
}

/** Not the parts themselves without data: they would grow, and push each other down the page. */
function OfferSkeleton() {
  return (
    <>
      <BackToOffers />
      <div className="offer-page" role="status" aria-label="Loading">
        <div className="side-skeleton">
          <span className="bone picture" />
          <span className="bone title" />
          <span className="bone wide" />
          <span className="bone block" />
        </div>
        <div className="side-skeleton">
          <span className="bone block" />
          <span className="bone block" />
        </div>
      </div>
    </>
  );
}
