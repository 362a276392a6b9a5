import type { OfferDetails } from '../../wire.ts';
import type { BlockProps } from '../ui/class-names.ts';
import { Countdown } from '../ui/countdown.tsx';
import { Loading, Skeleton } from '../ui/elements.tsx';
import { OFFER_TYPE_LABELS } from '../ui/labels.ts';
import { useUi } from '../ui/ui.tsx';
import { OfferBanner } from './offer-card.tsx';
import { OfferStateBadge, useOfferState } from './offer-state.tsx';

/** If `offer` is undefined, the component shows a skeleton. */
export type OfferPartProps = BlockProps & { offer: OfferDetails | undefined };

/**
 * Shows an offer's banner, name, state, description and countdown.
 *
 * @example
 * ```tsx
 * import { OfferHeader, useOffer } from '@causeway/sdk/react';
 *
 * function Page() {
 *   const { data: offer } = useOffer('harbour-quarter');
 *   return <OfferHeader offer={offer} />;
 * }
 * ```
 */
export function OfferHeader({ offer, className }: OfferPartProps) {
  const { cx, t } = useUi();
  const root = cx('cw cw-card cw-offer-header', className);
  if (offer === undefined) return <HeaderSkeleton className={root} />;
  const { name, tagline, about, category, asset, logo_url, type } = offer;
  return (
    <header className={root}>
      {offer.banner_url !== null && <OfferBanner offer={offer} />}
      <div className="cw-offer-header-body">
        <div className="cw-offer-header-line">
          <img className="cw-logo cw-logo-large" src={logo_url} alt="" width={64} height={64} />
          <div>
            <h1 className={cx('cw-headline')}>{name}</h1>
            {tagline !== null && <p className={cx('cw-tagline')}>{tagline}</p>}
          </div>
        </div>
        <div className="cw-row cw-wrap">
          <OfferStateBadge offer={offer} />
          <span className={cx('cw-chip')}>{t(OFFER_TYPE_LABELS[type])}</span>
          {category !== null && category !== OFFER_TYPE_LABELS[type] && (
            <span className={cx('cw-chip')}>{category}</span>
          )}
          <span className={cx('cw-chip')}>{asset.code}</span>
          <OfferCountdown offer={offer} />
        </div>
        {about !== null && (
          <div className={cx('cw-prose')}>
            {about
              .trim()
              .split(/\n\s*\n/)
              .map((paragraph) => (
                <p key={paragraph}>{paragraph}</p>
              ))}
          </div>
        )}
      </div>
    </header>
  );
}

/** Counts down to the opening, then to the end. */
function OfferCountdown({ offer }: { offer: OfferDetails }) {
  const { t } = useUi();
  const state = useOfferState(offer);
  if (state === 'upcoming' && offer.starts_at !== null)
    return <Countdown to={offer.starts_at} label={t('Opens in')} over={t('Opening now')} />;
  if (state === 'open' && offer.ends_at !== null)
    return <Countdown to={offer.ends_at} label={t('Ends in')} over={t('This offer has ended')} />;
  return null;
}

function HeaderSkeleton({ className }: { className: string }) {
  const { cx, t } = useUi();
  return (
    <header className={className}>
      <Loading>{t('Loading the offer…')}</Loading>
      <div className="cw-banner" />
      <div className="cw-offer-header-body">
        <div className="cw-offer-header-line">
          <span className="cw-logo cw-logo-large" />
          <div className="cw-grow">
            <p className={cx('cw-headline')}>
              <Skeleton width="60%" />
            </p>
            <p className={cx('cw-tagline')}>
              <Skeleton width="80%" />
            </p>
          </div>
        </div>
        <div className="cw-row">
          <Skeleton width="18ch" />
        </div>
        <div className={cx('cw-prose')}>
          <Skeleton height="6em" />
        </div>
      </div>
    </header>
  );
}
