import type { ReactNode } from 'react';
import type { Offer } from '../../wire.ts';
import { useOffers } from '../hooks/use-offers.ts';
import type { BlockProps } from '../ui/class-names.ts';
import { Empty, Loading } from '../ui/elements.tsx';
import { listFallback } from '../ui/list-fallback.tsx';
import { useUi } from '../ui/ui.tsx';
import { OfferCard, OfferCardSkeleton } from './offer-card.tsx';

export type OffersGridProps = BlockProps & {
  /** Returns the URL a card links to. */
  hrefOf?: ((offer: Offer) => string) | undefined;
  /** For client-side routers. If set, clicking a card calls this function instead of following the link. */
  onOpen?: ((offer: Offer) => void) | undefined;
  /** Shows only offers of this type. */
  type?: Offer['type'] | undefined;
  /** Shown if there are no offers. */
  empty?: ReactNode;
};

/**
 * Shows the partner's offers as cards.
 *
 * @example
 * ```tsx
 * import { OffersGrid } from '@causeway/sdk/react';
 *
 * const grid = <OffersGrid type="fund::swap" hrefOf={({ slug }) => `/offers/${slug}`} />;
 * ```
 */
export function OffersGrid({ hrefOf, onOpen, type, empty, className }: OffersGridProps): ReactNode {
  const { cx, t } = useUi();
  const { data, error, isLoading, refresh, hasMore, loadMore } = useOffers();
  const offers = data?.filter((offer) => type === undefined || offer.type === type);
  const fallback = listFallback({
    ...{ items: offers, error, onRetry: refresh, className: cx('cw', className) },
    empty: empty ?? <Empty title={t('No offers right now')}>{t('New ones will appear here.')}</Empty>,
  });
  if (fallback !== null) return fallback;
  return (
    <div className={cx('cw', className)}>
      {isLoading && <Loading>{t('Loading offers…')}</Loading>}
      <ul className={cx('cw-grid')} aria-busy={isLoading}>
        {offers?.map((offer) => (
          <li key={offer.id}>
            <OfferCard offer={offer} href={hrefOf?.(offer)} onOpen={onOpen} />
          </li>
        )) ?? ['a', 'b', 'c'].map((key) => <OfferCardSkeleton key={key} />)}
      </ul>
      {hasMore && (
        <button type="button" className={cx('cw-button cw-button-wide')} onClick={loadMore}>
          {t('Show more offers')}
        </button>
      )}
    </div>
  );
}
