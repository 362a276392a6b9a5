import type { ParticipationFilter } from '../../participations.ts';
import { queries } from '../../queries.ts';
import type { OptionAddress, Participation, UserPii } from '../../wire.ts';
import { given, type ListAnswer, useListed } from './use-offers.ts';
import { type Answer, type HookOptions, useQuery } from './use-query.ts';

/**
 * The wallets that the user has bound to an offer, or to one option of it.
 *
 * @example
 * ```tsx
 * import { useConnectedWallets } from '@causeway/sdk/react';
 *
 * function Bound({ offerId }: { offerId: string }) {
 *   const { data = [] } = useConnectedWallets(offerId);
 *   return <p>{data.map(({ address }) => address).join(', ')}</p>;
 * }
 * ```
 */
export function useConnectedWallets(
  offerId: string | undefined,
  options?: HookOptions & { optionId?: string | undefined },
): ListAnswer<OptionAddress> {
  return useListed(
    (count) => queries.connectedWallets(offerId ?? '', options?.optionId, count),
    100,
    given(offerId, options),
  );
}

/**
 * The user's participations, newest first.
 *
 * @example
 * ```tsx
 * import { useParticipations } from '@causeway/sdk/react';
 *
 * function Invested() {
 *   const { data = [], hasMore, loadMore } = useParticipations({ limit: 10 });
 *   return (
 *     <>
 *       {data.map(({ id, amount_string, asset }) => <p key={id}>{amount_string} {asset.code}</p>)}
 *       {hasMore && <button type="button" onClick={loadMore}>More</button>}
 *     </>
 *   );
 * }
 * ```
 */
export function useParticipations(
  options?: HookOptions & {
    limit?: number | undefined;
    filters?: readonly ParticipationFilter[] | undefined;
  },
): ListAnswer<Participation> {
  return useListed((count) => queries.participations(options?.filters, count), options?.limit ?? 20, options);
}

/**
 * One participation.
 *
 * @example
 * ```tsx
 * import { useParticipation } from '@causeway/sdk/react';
 *
 * function Status({ id }: { id: string }) {
 *   const { data } = useParticipation(id, { every: 3_000 });
 *   return <p role="status">{data?.status}</p>;
 * }
 * ```
 */
export function useParticipation(id: string | undefined, options?: HookOptions): Answer<Participation> {
  return useQuery(queries.participation(id ?? ''), given(id, options));
}

/**
 * What is known of the user as a person or company; unknown members are null.
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
export function usePii(options?: HookOptions): Answer<UserPii> {
  return useQuery(queries.pii(), options);
}
