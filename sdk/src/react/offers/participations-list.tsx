import type { ReactNode } from 'react';
import { CHAINS } from '../../chains.ts';
import type { ParticipationFilter } from '../../participations.ts';
import type { Participation } from '../../wire.ts';
import { useOffer } from '../hooks/use-offers.ts';
import { useParticipations } from '../hooks/use-user.ts';
import type { BlockProps } from '../ui/class-names.ts';
import { AddressText, Empty, Loading, Skeleton, StatusBadge } from '../ui/elements.tsx';
import { isInProgress, PARTICIPATION_LABELS } from '../ui/labels.ts';
import { listFallback } from '../ui/list-fallback.tsx';
import { useUi } from '../ui/ui.tsx';

export type ParticipationsListProps = BlockProps & {
  filters?: readonly ParticipationFilter[] | undefined;
  /** Returns the URL of a participation's offer. */
  hrefOf?: ((offerId: string) => string) | undefined;
  /** Shown if there are no participations. */
  empty?: ReactNode;
};

const FAST_POLL_INTERVAL_MS = 3_000;
/** The poll interval once all participations are settled. Only a refund can still change them. */
const SLOW_POLL_INTERVAL_MS = 30_000;

/**
 * Lists the user's participations with their live status.
 *
 * @example
 * ```tsx
 * import { ParticipationsList } from '@causeway/sdk/react';
 *
 * const mine = <ParticipationsList hrefOf={(offerId) => `/offers/${offerId}`} />;
 * ```
 */
export function ParticipationsList(props: ParticipationsListProps): ReactNode {
  const { cx, t } = useUi();
  const { filters, hrefOf, empty, className } = props;
  const current = useParticipations({ filters });
  const isChanging = current.data?.some(({ status }) => isInProgress(status)) ?? false;
  const { data, error, isLoading, refresh, hasMore, loadMore } = useParticipations({
    filters,
    pollIntervalMs: isChanging ? FAST_POLL_INTERVAL_MS : SLOW_POLL_INTERVAL_MS,
  });
  const fallback = listFallback({
    ...{ items: data, error, onRetry: refresh, className: cx('cw', className) },
    empty: empty ?? <Empty title={t('No investments yet')}>{t('Your investments will appear here.')}</Empty>,
  });
  if (fallback !== null) return fallback;
  return (
    <div className={cx('cw cw-card', className)}>
      {isLoading && <Loading>{t('Loading your investments…')}</Loading>}
      <ul className={cx('cw-list')} aria-busy={isLoading}>
        {data?.map((one) => (
          <ParticipationRow key={one.id} participation={one} href={hrefOf?.(one.offer_id)} />
        )) ??
          ['a', 'b', 'c'].map((key) => (
            <li key={key} className={cx('cw-list-row')} aria-hidden="true">
              <Skeleton height="2.9em" />
            </li>
          ))}
      </ul>
      {hasMore && (
        <button type="button" className={cx('cw-button cw-button-wide')} onClick={loadMore}>
          {t('Show more')}
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
  const { cx, format, t } = useUi();
  const { offer_id, amount_string, asset, chain, status, inserted_at, wallet_address } = participation;
  const { data: offer } = useOffer(offer_id);
  const name = offer?.name ?? t('Offer');
  const [tone, label, explanation] = PARTICIPATION_LABELS[status];
  return (
    <li className={cx('cw-list-row')}>
      <div className="cw-grow">
        <p className={cx('cw-strong')}>
          {href === undefined ? (
            name
          ) : (
            <a className={cx('cw-link')} href={href}>
              {name}
            </a>
          )}
        </p>
        <p className={cx('cw-muted cw-small')}>
          {format.dateTime(inserted_at)} · {CHAINS[chain].name}
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
          {format.digits(amount_string)} <span className="cw-unit">{asset.code}</span>
        </p>
        <span role="status" title={t(explanation)}>
          <StatusBadge tone={tone}>{t(label)}</StatusBadge>
        </span>
      </div>
    </li>
  );
}
