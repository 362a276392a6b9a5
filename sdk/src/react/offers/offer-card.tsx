import type { MouseEvent } from 'react';
import type { Offer } from '../../wire.ts';
import { useOffer } from '../hooks/use-offers.ts';
import { Skeleton } from '../ui/elements.tsx';
import { type Fact, FactList } from '../ui/fact-list.tsx';
import { slugToTitle, truncateDecimals } from '../ui/format.ts';
import { OFFER_TYPE_LABELS } from '../ui/labels.ts';
import { type Ui, useUi } from '../ui/ui.tsx';
import { OfferStateBadge } from './offer-state.tsx';

/** Shows an offer in a list. Loads the offer's details only if `offer` lacks data that the card shows. */
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
  const isComplete = offer.summary !== undefined && offer.tagline !== null;
  const { data: details } = useOffer(offer.slug, { enabled: !isComplete });
  const open = (event: MouseEvent) => {
    if (onOpen === undefined || event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    onOpen(offer);
  };
  const name = offer.summary?.name ?? details?.name ?? slugToTitle(offer.slug);
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
        <SaleProgress offer={offer} />
        <FactList className="cw-facts" facts={factsOf(offer, { t, format })} />
      </div>
    </article>
  );
}

/** Shows how much a sale has raised, if the sale has a target. */
function SaleProgress({ offer: { summary } }: { offer: Offer }) {
  const { cx, format, t } = useUi();
  if (summary?.raised_usd == null || summary.target_usd === null) return null;
  const { raised_usd: raised, target_usd: target } = summary;
  const text = t('{raised} of {target} raised', {
    raised: format.usd(truncateDecimals(raised, 2)),
    target: format.usd(truncateDecimals(target, 2)),
  });
  return (
    <div>
      <progress className={cx('cw-bar')} max={Number(target)} value={Number(raised)} aria-label={text} />
      <p className={cx('cw-muted cw-small')}>{text}</p>
    </div>
  );
}

/** Shows the offer's image, or a pattern if the offer has none. */
export function OfferBanner({ offer }: { offer: Pick<Offer, 'banner_url'> }) {
  return (
    <div className="cw-banner" aria-hidden="true">
      {offer.banner_url !== null && <img src={offer.banner_url} alt="" loading="lazy" />}
    </div>
  );
}

const DAY_MS = 86_400_000;

function factsOf(offer: Offer, { t, format }: Pick<Ui, 't' | 'format'>): readonly Fact[] {
  const { options, type, ends_at, summary } = offer;
  const lowest = (key: 'price_usd' | 'minimum_purchase_usd') =>
    options.flatMap((option) => option[key] ?? []).sort((a, b) => Number(a) - Number(b))[0];
  const price = lowest('price_usd');
  const minimum = lowest('minimum_purchase_usd');
  // NaN if the offer never ends.
  const days = Math.ceil((Date.parse(ends_at ?? '') - Date.now()) / DAY_MS);
  return [
    price === undefined
      ? [t('Price'), t(type === 'tokenized::swap' ? 'Market price' : 'Set daily')]
      : [t(options.length > 1 ? 'Price from' : 'Price'), format.usd(price)],
    [t('Minimum'), minimum === undefined ? t('None') : format.usd(minimum)],
    ...(summary?.state === 'open' && days > 0
      ? [[t('Ends in'), t(days === 1 ? '1 day' : '{days} days', { days })] as const]
      : []),
    ...(summary?.fee_bps ? [[t('Fee'), format.percent(summary.fee_bps)] as const] : []),
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
