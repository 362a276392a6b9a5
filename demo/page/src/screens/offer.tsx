import type { OfferDetails, OfferOption } from '@causeway/sdk';
import {
  Countdown,
  ErrorNotice,
  OfferFaq,
  OfferHeader,
  OfferLinks,
  OfferMilestones,
  OfferTerms,
  offerState,
  RequirementsChecklist,
  useEligibility,
  useOffer,
  useRequirementProgress,
} from '@causeway/sdk/react';
import { useRef, useState } from 'react';
import { BackIcon } from '../icons.tsx';
import { Link, navigate, useLocation, useTitle } from '../route.tsx';
import { LivePrice } from './live-price.tsx';
import { describeOption } from './offer-option.ts';
import { TYPE_LABELS } from './offer-types.ts';

export function OfferScreen({ slug }: { slug: string }) {
  const { data: offer, error, refresh } = useOffer(slug, { pollIntervalMs: 60_000 });
  const { query } = useLocation();
  const selected = offer?.options.find((option) => option.slug === query.get('option')) ?? offer?.options[0];
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
          <OfferTerms offer={offer} optionId={selected?.id} />
          <OfferMilestones offer={offer} />
          <OfferFaq offer={offer} />
          <OfferLinks offer={offer} />
        </div>
        <aside className="offer-side">
          <Side offer={offer} selected={selected} />
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

/** The side column: countdown, options, the button to invest, and the requirements. */
function Side({ offer, selected }: { offer: OfferDetails; selected: OfferOption | undefined }) {
  const state = offerState(offer);
  const isRejected = useIsRejected(offer.id, selected?.id);
  const { action } = TYPE_LABELS[offer.type];
  const progress = useRequirementProgress(offer.id, selected?.id);
  const hasSteps = progress !== undefined && progress.steps > 0;
  const [starts, setStarts] = useState(0);
  const checklist = useRef<HTMLDivElement>(null);
  const start = () => {
    setStarts(starts + 1);
    checklist.current?.scrollIntoView({ block: 'nearest' });
  };
  const investPath = `/offers/${offer.slug}/invest${selected === undefined ? '' : `?option=${selected.slug}`}`;
  return (
    <>
      <OfferCountdown offer={offer} />
      {offer.options.length > 1 && (
        <fieldset className="options">
          <legend>Choose an option</legend>
          {offer.options.map((option) => {
            const { title, details } = describeOption(option);
            return (
              <label key={option.id} className="option">
                <input
                  type="radio"
                  name="option"
                  checked={option.id === selected?.id}
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
      {state === 'open' && !isRejected && (
        <div className="action-bar">
          {selected !== undefined && <p>{describeOption(selected).details}</p>}
          {hasSteps ? (
            <button type="button" className="button main wide" onClick={start}>
              {describeProgress(progress)}
            </button>
          ) : (
            <Link to={investPath} className="button main wide">
              {action}
            </Link>
          )}
        </div>
      )}
      {state !== 'open' && (
        <p className="notice">
          {state === 'ended'
            ? 'This offer has ended. Find your holdings in your portfolio.'
            : "This offer isn't open yet. You can meet its requirements now."}
        </p>
      )}
      {selected !== undefined && (
        <div ref={checklist}>
          <RequirementsChecklist
            key={selected.id}
            offer={offer}
            optionId={selected.id}
            startSignal={starts}
            // Continues to the purchase only if the user has clicked "Start".
            onCompleted={() => starts > 0 && state === 'open' && navigate(investPath)}
          />
        </div>
      )}
    </>
  );
}

/** Returns the button's label, such as "Start: 7 steps, about 4 minutes". */
function describeProgress({ done, steps, minutes }: { done: number; steps: number; minutes: number }) {
  const count = (number: number, unit: string) => `${number} ${unit}${number === 1 ? '' : 's'}`;
  return `${done === 0 ? 'Start' : 'Continue'}: ${count(steps, 'step')}, about ${count(minutes, 'minute')}`;
}

/** Returns true if nothing can make the user eligible for the option. The checklist says why. */
function useIsRejected(offerId: string, optionId: string | undefined): boolean {
  const { data } = useEligibility(offerId);
  const option = data?.options.find(({ offer_option_id }) => offer_option_id === optionId);
  return option?.checks.some(({ status }) => status === 'rejected') ?? false;
}

function OfferCountdown({ offer: { starts_at, ends_at } }: { offer: OfferDetails }) {
  const state = offerState({ starts_at, ends_at });
  if (state === 'upcoming' && starts_at !== null)
    return (
      <div className="countdown">
        <Countdown to={starts_at} label="Opens in" over="Now open" />
      </div>
    );
  if (state === 'open' && ends_at !== null)
    return (
      <div className="countdown">
        <Countdown to={ends_at} label="Ends in" over="Ended" />
      </div>
    );
  return null;
}

/**
 * Shown while the offer loads. The height is fixed, because the components' own skeletons would grow and shift the
 * layout.
 */
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
