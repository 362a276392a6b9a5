import type { EligibilityQuery } from '../../offers.ts';
import type { Page } from '../../paging.ts';
import { queries } from '../../queries.ts';
import type { Eligibility, Offer, OfferDetails, OfferRequirements, RequirementStatuses } from '../../wire.ts';
import {
  enabledIf,
  type HookOptions,
  type ListQueryResult,
  type QueryResult,
  useListQuery,
  useQuery,
} from './use-query.ts';

/**
 * Returns the partner's offers, newest first.
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
export function useOffers(
  options?: HookOptions<Page<Offer>> & { limit?: number | undefined },
): ListQueryResult<Offer> {
  return useListQuery((count) => queries.offers(count), options?.limit ?? 100, options);
}

/**
 * Returns one offer with all its details, by id or slug.
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
export function useOffer(
  idOrSlug: string | undefined,
  options?: HookOptions<OfferDetails>,
): QueryResult<OfferDetails> {
  return useQuery(queries.offer(idOrSlug ?? ''), enabledIf(idOrSlug, options));
}

/**
 * Returns the requirements for each of an offer's options.
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
  options?: HookOptions<OfferRequirements>,
): QueryResult<OfferRequirements> {
  return useQuery(queries.requirements(offerId ?? ''), enabledIf(offerId, options));
}

/**
 * Returns the user's status for each of an offer's requirements. Parse each status with `describeStatus`.
 *
 * @example
 * ```tsx
 * import { describeStatus } from '@causeway/sdk';
 * import { useRequirementStatuses } from '@causeway/sdk/react';
 *
 * function Done({ offerId }: { offerId: string }) {
 *   const { data } = useRequirementStatuses(offerId, { pollIntervalMs: 5_000 });
 *   const all = Object.values(data?.statuses ?? {});
 *   return <p>{all.filter((one) => describeStatus(one).status === 'completed').length} done</p>;
 * }
 * ```
 */
export function useRequirementStatuses(
  offerId: string | undefined,
  options?: HookOptions<RequirementStatuses>,
): QueryResult<RequirementStatuses> {
  return useQuery(queries.requirementStatuses(offerId ?? ''), enabledIf(offerId, options));
}

/**
 * Returns the eligibility checks for each of an offer's options. A check that has not passed says what the user can do
 * about it. With `walletAddress`, the checks apply to that wallet.
 *
 * @example
 * ```tsx
 * import { useEligibility } from '@causeway/sdk/react';
 *
 * function Reasons({ offerId, optionId }: { offerId: string; optionId: string }) {
 *   const { data } = useEligibility(offerId);
 *   const checks = data?.options.find((option) => option.offer_option_id === optionId)?.checks ?? [];
 *   return <p>{checks.filter(({ status }) => status !== 'passed').map(({ message }) => message).join(' ')}</p>;
 * }
 * ```
 */
export function useEligibility(
  offerId: string | undefined,
  options?: HookOptions<Eligibility> & EligibilityQuery,
): QueryResult<Eligibility> {
  const { chain, walletAddress, ...rest } = options ?? {};
  return useQuery(queries.eligibility(offerId ?? '', { chain, walletAddress }), enabledIf(offerId, rest));
}
