import { useState } from 'react';
import { type Listed, type Query, queries } from '../../queries.ts';
import type { Offer, OfferDetails, OfferRequirements, RequirementStatuses } from '../../wire.ts';
import { useLast } from './use-last.ts';
import { type Answer, type HookOptions, useQuery } from './use-query.ts';

/** Of lists: the items so far, and the way to more. */
export type ListAnswer<Item> = Answer<Item[]> & { hasMore: boolean; loadMore(): void };

/** The list as far as it is asked for; the part that is known stays while more of it is loading. */
export function useListed<Item>(
  askFor: (count: number) => Query<Listed<Item>>,
  step: number,
  options: HookOptions | undefined,
): ListAnswer<Item> {
  const [count, setCount] = useState(step);
  const { data, ...rest } = useQuery(askFor(count), options);
  const shown = useLast(data, askFor(step).key);
  return {
    ...rest,
    data: shown?.items,
    isLoading: rest.isLoading && shown === undefined,
    hasMore: shown?.hasMore ?? false,
    loadMore: () => setCount(count + step),
  };
}

/**
 * The partner's offers, newest first.
 *
 * @example
 * ```tsx
 * import { useOffers } from '@causeway/sdk/react';
 *
 * function Slugs() {
 *   const { data = [], error } = useOffers();
 *   return <p>{error?.message ?? data.map(({ slug }) => slug).join(', ')}</p>;
 * }
 * ```
 */
export function useOffers(options?: HookOptions & { limit?: number | undefined }): ListAnswer<Offer> {
  return useListed((count) => queries.offers(count), options?.limit ?? 100, options);
}

/**
 * One offer with all there is to tell of it, by id or slug.
 *
 * @example
 * ```tsx
 * import { useOffer } from '@causeway/sdk/react';
 *
 * function Title() {
 *   const { data: offer } = useOffer('harbour-quarter');
 *   return <h1>{offer?.name}</h1>;
 * }
 * ```
 */
export function useOffer(idOrSlug: string | undefined, options?: HookOptions): Answer<OfferDetails> {
  return useQuery(queries.offer(idOrSlug ?? ''), given(idOrSlug, options));
}

/**
 * What each option of an offer queries of a user.
 *
 * @example
 * ```tsx
 * import { useRequirements } from '@causeway/sdk/react';
 *
 * function Count({ offerId, optionId }: { offerId: string; optionId: string }) {
 *   const { data } = useRequirements(offerId);
 *   return <p>{data?.options[optionId]?.data.length} requirements</p>;
 * }
 * ```
 */
export function useRequirements(
  offerId: string | undefined,
  options?: HookOptions,
): Answer<OfferRequirements> {
  return useQuery(queries.requirements(offerId ?? ''), given(offerId, options));
}

/**
 * How far the user is with the requirements of an offer; `describeStatus` reads one of them.
 *
 * @example
 * ```tsx
 * import { describeStatus } from '@causeway/sdk';
 * import { useRequirementStatuses } from '@causeway/sdk/react';
 *
 * function Done({ offerId }: { offerId: string }) {
 *   const { data } = useRequirementStatuses(offerId, { every: 5_000 });
 *   const all = Object.values(data?.statuses ?? {});
 *   return <p>{all.filter((one) => describeStatus(one).status === 'completed').length} done</p>;
 * }
 * ```
 */
export function useRequirementStatuses(
  offerId: string | undefined,
  options?: HookOptions,
): Answer<RequirementStatuses> {
  return useQuery(queries.requirementStatuses(offerId ?? ''), given(offerId, options));
}

/** Waits for what is not known yet. */
export function given(known: unknown, options: HookOptions = {}): HookOptions {
  return { ...options, enabled: known !== undefined && known !== null && options.enabled !== false };
}
