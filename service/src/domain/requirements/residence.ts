import type { Static } from 'typebox';
import type { PiiFacts } from '../../kernel/model/personal-data.ts';
import type { JurisdictionDetails } from '../../kernel/model/requirement.ts';
import { type Area, isInAreas } from '../../kernel/places/areas.ts';
import type { Context } from '../../platform/context/context.ts';
import type { Db } from '../../platform/db/pool.ts';
import { listJurisdictionFilters } from '../offers/store.ts';
import type { Move } from '../pii/country-change.ts';
import { insertCountryChange } from '../pii/store.ts';

/** Returns `unknown` if the country is missing, or if the answer depends on a missing or unknown region. */
export function checkJurisdiction(
  { filter_type, filters }: Static<typeof JurisdictionDetails>,
  country: string | null,
  region: string | null,
): 'passes' | 'fails' | 'unknown' {
  if (country === null) return 'unknown';
  const isListed = isInAreas(filters, country, region);
  if (isListed === 'unknown') return 'unknown';
  return isListed === (filter_type === 'allow') ? 'passes' : 'fails';
}

export type CountryPolicy = { blockedCountries: readonly Area[] };

/**
 * Checks the country of residence against the installation's blocked countries, which apply to every offer.
 * - `passed`: the country is not blocked, or the user has no address. The offer's requirements decide whether an
 *   address is needed.
 * - `action_needed`: the answer depends on a region that is missing or not recognized. The user must correct the
 *   address with the identity provider.
 * - `waiting`: the user has left a blocked place, and an operator must approve the change.
 * - `rejected`: the user lives in a blocked place.
 */
export function countryPolicy(
  { pii }: { pii: Pick<PiiFacts, 'country' | 'region' | 'formerPlaces'> | null },
  { blockedCountries }: CountryPolicy,
): 'passed' | 'waiting' | 'action_needed' | 'rejected' {
  if (pii === null || pii.country === null) return 'passed';
  const isBlocked = isInAreas(blockedCountries, pii.country, pii.region);
  if (isBlocked === 'unknown') return 'action_needed';
  if (isBlocked) return 'rejected';
  const isMoveOpen = (pii.formerPlaces ?? []).some(
    ({ country, region }) => isInAreas(blockedCountries, country, region) === true,
  );
  return isMoveOpen ? 'waiting' : 'passed';
}

/** Flags the change if the country policy or an offer rejects the old residence but not the new one. */
export async function recordMove(ctx: Context, tx: Db, userId: string, move: Move): Promise<void> {
  const { from, to } = move;
  const { blockedCountries } = ctx.config;
  const isBlocked = (country: string | null, region: string | null) =>
    country !== null && isInAreas(blockedCountries, country, region) === true;
  const filters = await listJurisdictionFilters(tx);
  const isFlagged =
    (isBlocked(from.country, from.region) && !isBlocked(to.country, to.region)) ||
    filters.some(
      (filter) =>
        checkJurisdiction(filter, from.country, from.region) === 'fails' &&
        checkJurisdiction(filter, to.country, to.region) !== 'fails',
    );
  await insertCountryChange(tx, { user_id: userId, changed_at: from.left_at, is_flagged: isFlagged });
  if (isFlagged) ctx.log.warn({ user_id: userId }, 'user moved from a rejected to an accepted country');
}
