import type { MouseEvent } from 'react';
import type { Offer } from '../../wire.ts';
import { useOffer } from '../hooks/use-offers.ts';
import { Skeleton } from '../ui/elements.tsx';
import { type Fact, FactList } from '../ui/fact-list.tsx';
import { slugToTitle } from '../ui/format.ts';
import { OFFER_TYPE_LABELS } from '../ui/labels.ts';
import { type Ui, useUi } from '../ui/ui.tsx';
import { OfferStateBadge } from './offer-state.tsx';

/**
 * Loads the offer's details, because the list lacks the name. The offer page then finds the details in the
 * cache.
 */
export function OfferCard({
  offer,
  href,
  onOpen,
}: {
  offer: Offer;
  href: string | undefined;
  onOpen: ((offer: Offer) => void) | undefined;
}) {
  const { cx, format, t } = useUi();
  const { data: details } = useOffer(offer.slug);
  const open = (event: MouseEvent) => {
    if (onOpen === undefined || event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    onOpen(offer);
  };
  const name = details?.name ?? slugToTitle(offer.slug);
  return (
    <article className={cx('cw-card cw-offer-card')}>
      <OfferBanner offer={offer} />
      <div className="cw-offer-card-body">
        <img className="cw-logo" src={offer.logo_url} alt="" width={48} height={48} />
        <div className="cw-row">
          <span className="cw-kind">{t(OFFER_TYPE_LABELS[offer.type])}</span>
          <OfferStateBadge offer={offer} />
        </div>
        <h3 className="cw-offer-card-title">
          {href === undefined && onOpen !== undefined ? (
            <button type="button" className="cw-stretched cw-plain" onClick={open}>
              {name}
            </button>
          ) : href === undefined ? (
            name
          ) : (
            <a className="cw-stretched" href={href} onClick={open}>
              {name}
            </a>
          )}
        </h3>
        <p className={cx('cw-muted cw-two-lines')}>{offer.tagline ?? details?.about?.trim() ?? '\u00a0'}</p>
        <FactList className="cw-facts" facts={factsOf(offer, { t, format })} />
      </div>
    </article>
  );
}

/** Shows a pattern if the offer has no image. */
export function OfferBanner({ offer }: { offer: Pick<Offer, 'banner_url'> }) {
  return (
    <div className="cw-banner" aria-hidden="true">
      {offer.banner_url !== null && <img src={offer.banner_url} alt="" loading="lazy" />}
    </div>
  );
}

function factsOf({ options, type }: Offer, { t, format }: Pick<Ui, 't' | 'format'>): readonly Fact[] {
  const lowest = (values: readonly (string | null)[]) => {
    const set = values.filter((value) => value !== null);
    return set.length === 0 ? null : set.reduce((a, b) => (Number(b) < Number(a) ? b : a));
  };
  const price = lowest(options.map(({ price_usd }) => price_usd));
  const minimum = lowest(options.map(({ minimum_purchase_usd }) => minimum_purchase_usd));
  return [
    price === null
      ? [t('Price'), t(type === 'tokenized::swap' ? 'Market price' : 'Set daily')]
      : [t(options.length > 1 ? 'Price from' : 'Price'), format.price(price)],
    [t('Minimum'), minimum === null ? t('None') : format.usd(minimum)],
  ];
}

export function OfferCardSkeleton() {
  const { cx, t } = useUi();
  return (
    <li aria-hidden="true">
      <div className={cx('cw-card cw-offer-card')}>
        <div className="cw-banner" />
        <div className="cw-offer-card-body">
          <span className="cw-logo" />
          <div className="cw-row">
            <Skeleton width="9ch" />
          </div>
          <h3 className="cw-offer-card-title">
            <Skeleton width="70%" />
          </h3>
          <p className={cx('cw-muted cw-two-lines')}>
            <Skeleton />
          </p>
          <FactList
            className="cw-facts"
            facts={(['Price', 'Minimum'] as const).map((term) => [
              t(term),
              <Skeleton key={term} width="6ch" />,
            ])}
          />
        </div>
      </div>
    </li>
  );
}
