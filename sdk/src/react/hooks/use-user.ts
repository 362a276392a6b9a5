import type { Page } from '../../paging.ts';
import type { ParticipationFilter } from '../../participations.ts';
import { queries } from '../../queries.ts';
import type { OptionAddress, Participation, UserPii } from '../../wire.ts';
import {
  enabledIf,
  type HookOptions,
  type ListQueryResult,
  type QueryResult,
  useListQuery,
  useQuery,
} from './use-query.ts';

/**
 * Returns the wallets the user has connected to an offer, or to one of its options.
 *
 * @example
 * ```tsx
 * import { useConnectedWallets } from '@causeway/sdk/react';
 *
 * function Addresses({ offerId }: { offerId: string }) {
 *   const { data = [] } = useConnectedWallets(offerId);
 *   return <p>{data.map(({ address }) => address).join(', ')}</p>;
 * }
 * ```
 */
export function useConnectedWallets(
  offerId: string | undefined,
  options?: HookOptions<Page<OptionAddress>> & { optionId?: string | undefined },
): ListQueryResult<OptionAddress> {
  return useListQuery(
    (count) => queries.connectedWallets(offerId ?? '', options?.optionId, count),
    100,
    enabledIf(offerId, options),
  );
}

/**
 * Returns the user's participations, newest first.
 *
 * @example
 * ```tsx
 * import { useParticipations } from '@causeway/sdk/react';
 *
 * function Investments() {
 *   const { data = [], hasMore, loadMore } = useParticipations({ limit: 10 });
 *   return (
 *     <>
 *       {data.map(({ id, amount_string, asset }) => <p key={id}>{amount_string} {asset.code}</p>)}
 *       {hasMore && <button type="button" onClick={loadMore}>Show more</button>}
 *     </>
 *   );
 * }
 * ```
 */
export function useParticipations(
  options?: HookOptions<Page<Participation>> & {
    limit?: number | undefined;
    filters?: readonly ParticipationFilter[] | undefined;
  },
): ListQueryResult<Participation> {
  return useListQuery(
    (count) => queries.participations(options?.filters, count),
    options?.limit ?? 20,
    options,
  );
}

/**
 * Returns one participation.
 *
 * @example
 * ```tsx
 * import { useParticipation } from '@causeway/sdk/react';
 *
 * function Status({ id }: { id: string }) {
 *   const { data } = useParticipation(id, { pollIntervalMs: 3_000 });
 *   return <p role="status">{data?.status}</p>;
 * }
 * ```
 */
export function useParticipation(
  id: string | undefined,
  options?: HookOptions<Participation>,
): QueryResult<Participation> {
  return useQuery(queries.participation(id ?? ''), enabledIf(id, options));
}

/**
 * Returns the user's personal or company data; unknown fields are null.
 *
 * @example
 * ```tsx
 * import { usePii } from '@causeway/sdk/react';
 *
 * function Greeting() {
 *   return <p>Hello {usePii().data?.full_legal_name ?? 'there'}</p>;
 * }
 * ```
 */
export function usePii(options?: HookOptions<UserPii>): QueryResult<UserPii> {
  return useQuery(queries.pii(), options);
}
