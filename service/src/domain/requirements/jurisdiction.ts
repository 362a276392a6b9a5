import type { Static } from 'typebox';
import type { JurisdictionDetails } from '../../kernel/model/requirement.ts';
import { isInAreas } from '../../kernel/places/areas.ts';

/**
 * Returns whether an address passes the filter. Returns `unknown` if the country is missing, or if the answer depends
 * on a region that is missing or not recognized.
 */
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
