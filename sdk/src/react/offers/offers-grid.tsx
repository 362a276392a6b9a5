import type { ReactNode } from 'react';
import type { Offer } from '../../wire.ts';
import { useOffers } from '../hooks/use-offers.ts';
import { Empty, Loading } from '../ui/elements.tsx';
import { ErrorNotice } from '../ui/error-notice.tsx';
import { OfferCard, OfferCardSkeleton } from './offer-card.tsx';

export type OffersGridProps = {
  /** Where a card leads. */
  hrefOf?: ((offer: Offer) => string) | undefined;
  /** Instead of following the link, for routers. */
  onOpen?: ((offer: Offer) => void) | undefined;
  /** Only offers of this type. */
  type?: Offer['type'] | undefined;
  /** Shown when there are none. */
  empty?: ReactNode;
};

/**
 * The partner's offers as cards.
 *
 * @example
 * ```tsx
 * import { OffersGrid } from '@causeway/sdk/react';
 *
 * const grid = <OffersGrid type="fund::swap" hrefOf={({ slug }) => `/offers/${slug}`} />;
 * ```
 */
export function OffersGrid({ hrefOf, onOpen, type, empty }: OffersGridProps) {
  const { data, error, isLoading, refresh, hasMore, loadMore } = useOffers();
  const offers = data?.filter((offer) => type === undefined || offer.type === type);
  if (offers === undefined && error !== undefined)
    return (
      <div className="cw">
        <ErrorNotice error={error} onRetry={refresh} />
      </div>
    );
  if (offers?.length === 0)
    return (
      <div className="cw">{empty ?? <Empty title="No offers right now">New ones appear here.</Empty>}</div>
    );
  return (
    <div className="cw">
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
