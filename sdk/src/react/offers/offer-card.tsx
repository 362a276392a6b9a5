import type { MouseEvent } from 'react';
import type { Offer } from '../../wire.ts';
import { useOffer } from '../hooks/use-offers.ts';
import { Skeleton } from '../ui/elements.tsx';
import { formatPrice, formatUsd, titleOfSlug } from '../ui/format.ts';
import { OFFER_TYPES } from '../ui/labels.ts';
import { OfferStateBadge } from './offer-state.tsx';

/** The list has no names, so each card asks for its offer: the page it leads to then has it already. */
export function OfferCard({
  offer,
  href,
  onOpen,
}: {
  offer: Offer;
  href: string | undefined;
  onOpen: ((offer: Offer) => void) | undefined;
}) {
  const { data: details } = useOffer(offer.slug);
  const open = (event: MouseEvent) => {
    if (onOpen === undefined || event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    onOpen(offer);
  };
  const name = details?.name ?? titleOfSlug(offer.slug);
  const facts = factsOf(offer);
  return (
    <article className="cw-card cw-offer-card">
      <OfferBanner offer={offer} />
      <div className="cw-offer-card-body">
        <img className="cw-logo" src={offer.logo_url} alt="" width={48} height={48} />
        <div className="cw-row">
          <span className="cw-kind">{OFFER_TYPES[offer.type]}</span>
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
        <p className="cw-muted cw-two-lines">{offer.tagline ?? details?.about?.trim() ?? '\u00a0'}</p>
        <dl className="cw-facts">
          {facts.map(([term, value]) => (
            <div key={term}>
              <dt>{term}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      </div>
    </article>
  );
}

/** A calm pattern stands in where an offer has no picture. */
export function OfferBanner({ offer }: { offer: Pick<Offer, 'banner_url'> }) {
  return (
    <div className="cw-banner" aria-hidden="true">
      {offer.banner_url !== null && <img src={offer.banner_url} alt="" loading="lazy" />}
    </div>
  );
}

function factsOf({ options, type }: Offer): readonly (readonly [string, string])[] {
  const lowest = (values: readonly (string | null)[]) => {
    const known = values.filter((value) => value !== null);
    return known.length === 0 ? null : known.reduce((a, b) => (Number(b) < Number(a) ? b : a));
  };
  const price = lowest(options.map(({ price_usd }) => price_usd));
  const minimum = lowest(options.map(({ minimum_purchase_usd }) => minimum_purchase_usd));
  return [
    price === null
      ? ['Price', type === 'tokenized::swap' ? 'Live market' : 'Of the day']
      : [options.length > 1 ? 'Price from' : 'Price', formatPrice(price)],
    ['Minimum', minimum === null ? 'None' : formatUsd(minimum)],
  ];
}

export function OfferCardSkeleton() {
  return (
    <li aria-hidden="true">
      <div className="cw-card cw-offer-card">
        <div className="cw-banner" />
        <div className="cw-offer-card-body">
          <span className="cw-logo" />
          <div className="cw-row">
            <Skeleton width="9ch" />
          </div>
          <h3 className="cw-offer-card-title">
            <Skeleton width="70%" />
          </h3>
          <p className="cw-muted cw-two-lines">
            <Skeleton />
          </p>
          <dl className="cw-facts">
            {['Price', 'Minimum'].map((term) => (
              <div key={term}>
                <dt>{term}</dt>
                <dd>
                  <Skeleton width="6ch" />
                </dd>
              </div>
            ))}
          </dl>
        </div>
      </div>
    </li>
  );
}
