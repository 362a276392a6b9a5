import { type Area, isInAreas } from '../../kernel/places/areas.ts';
import type { UserFacts } from './status.ts';

/** Countries and regions whose residents no offer accepts. */
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
  { pii }: Pick<UserFacts, 'pii'>,
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
