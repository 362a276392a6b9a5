import type { ReactNode } from 'react';
import { CHAINS } from '../../chains.ts';
import type { ParticipationFilter } from '../../participations.ts';
import type { Participation } from '../../wire.ts';
import { useOffer } from '../hooks/use-offers.ts';
import { useParticipations } from '../hooks/use-user.ts';
import { AddressText, Empty, Loading, Skeleton, StatusBadge } from '../ui/elements.tsx';
import { ErrorNotice } from '../ui/error-notice.tsx';
import { formatMoment, groupDigits } from '../ui/format.ts';
import { isMoving, PARTICIPATIONS } from '../ui/labels.ts';

export type ParticipationsListProps = {
  filters?: readonly ParticipationFilter[] | undefined;
  /** Where the offer of a participation is. */
  hrefOf?: ((offerId: string) => string) | undefined;
  /** Shown when there are none. */
  empty?: ReactNode;
};

/** Of a list in which nothing moves by itself; a refund may still be asked for elsewhere. */
const SLOW = 30_000;
const QUICK = 3_000;

/**
 * The user's participations with their live status.
 *
 * @example
 * ```tsx
 * import { ParticipationsList } from '@causeway/sdk/react';
 *
 * const mine = <ParticipationsList hrefOf={(offerId) => `/offers/${offerId}`} />;
 * ```
 */
export function ParticipationsList({ filters, hrefOf, empty }: ParticipationsListProps) {
  const known = useParticipations({ filters });
  const moves = known.data?.some(({ status }) => isMoving(status)) ?? false;
  const { data, error, isLoading, refresh, hasMore, loadMore } = useParticipations({
    filters,
    every: moves ? QUICK : SLOW,
  });
  if (data === undefined && error !== undefined)
    return (
      <div className="cw">
        <ErrorNotice error={error} onRetry={refresh} />
      </div>
    );
  if (data?.length === 0)
    return (
      <div className="cw">
        {empty ?? <Empty title="No investments yet">What you invest in appears here.</Empty>}
      </div>
    );
  return (
    <div className="cw cw-card">
      {isLoading && <Loading what="your investments" />}
      <ul className="cw-list" aria-busy={isLoading}>
        {data?.map((one) => (
          <ParticipationRow key={one.id} participation={one} href={hrefOf?.(one.offer_id)} />
        )) ??
          ['a', 'b', 'c'].map((key) => (
            <li key={key} className="cw-list-row" aria-hidden="true">
              <Skeleton height="2.9em" />
            </li>
          ))}
      </ul>
      {hasMore && (
        <button type="button" className="cw-button cw-button-wide" onClick={loadMore}>
          Show more
        </button>
      )}
    </div>
  );
}

function ParticipationRow({
  participation,
  href,
}: {
  participation: Participation;
  href: string | undefined;
}) {
  const { offer_id, amount_string, asset, chain, status, inserted_at, wallet_address } = participation;
  const { data: offer } = useOffer(offer_id);
  const name = offer?.name ?? 'Offer';
  const [tone, words, long] = PARTICIPATIONS[status];
  return (
    <li className="cw-list-row">
      <div className="cw-grow">
        <p className="cw-strong">
          {href === undefined ? (
            name
          ) : (
            <a className="cw-link" href={href}>
              {name}
            </a>
          )}
        </p>
        <p className="cw-muted cw-small">
          {formatMoment(inserted_at)} · {CHAINS[chain].name}
          {wallet_address !== null && (
            <>
              {' · '}
              <AddressText address={wallet_address} />
            </>
          )}
        </p>
      </div>
      <div className="cw-list-end">
        <p className="cw-amount">
          {groupDigits(amount_string)} <span className="cw-unit">{asset.code}</span>
        </p>
        <span role="status" title={long}>
          <StatusBadge tone={tone}>{words}</StatusBadge>
        </span>
      </div>
    </li>
  );
}
