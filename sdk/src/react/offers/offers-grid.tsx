import type { ReactNode } from 'react';
import type { Offer } from '../../wire.ts';
import { useOffers } from '../hooks/use-offers.ts';
import { type BlockProps, joinClasses } from '../ui/class-names.ts';
import { Empty, Loading } from '../ui/elements.tsx';
import { listFallback } from '../ui/list-fallback.tsx';
import { OfferCard, OfferCardSkeleton } from './offer-card.tsx';

export type OffersGridProps = BlockProps & {
  /** Returns the URL a card links to. */
  hrefOf?: ((offer: Offer) => string) | undefined;
  /** Called instead of following the link, for client-side routers. */
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
  const { data, error, isLoading, refresh, hasMore, loadMore } = useOffers();
  const offers = data?.filter((offer) => type === undefined || offer.type === type);
  const fallback = listFallback({
    ...{ items: offers, error, onRetry: refresh, className },
    empty: empty ?? <Empty title="No offers right now">New ones will appear here.</Empty>,
  });
  if (fallback !== null) return fallback;
  return (
    <div className={joinClasses('cw', className)}>
      {isLoading && <Loading what="offers" />}
      <ul className="cw-grid" aria-busy={isLoading}>
        {offers?.map((offer) => (
          <li key={offer.id}>
            <OfferCard offer={offer} href={hrefOf?.(offer)} onOpen={onOpen} />
          </li>
        )) ?? ['a', 'b', 'c'].map((key) => <OfferCardSkeleton key={key} />)}
      </ul>
      {hasMore && (
        <button type="button" className="cw-button cw-button-wide" onClick={loadMore}>
          Show more offers
        </button>
      )}
    </div>
  );
}
