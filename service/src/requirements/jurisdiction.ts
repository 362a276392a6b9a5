import type { Static } from 'typebox';
import { regionKey } from '../pii/regions.ts';
import type { JurisdictionDetails } from './schema.ts';

/**
 * Returns whether an address passes the filter. `unknown` if the country is missing, or the region where the filter
 * lists regions of that country.
 */
export function checkJurisdiction(
  { filter_type, filters }: Static<typeof JurisdictionDetails>,
  country: string | null,
  region: string | null,
): 'passes' | 'fails' | 'unknown' {
  if (country === null) return 'unknown';
  const ofCountry = filters.filter(({ country_iso_2 }) => country_iso_2 === country);
  const isWhole = ofCountry.some(({ regions }) => regions === undefined);
  const regions = ofCountry.flatMap((filter) => filter.regions ?? []);
  if (!isWhole && regions.length > 0 && region === null) return 'unknown';
  const isListed =
    isWhole ||
    (region !== null && regions.some((listed) => regionKey(country, listed) === regionKey(country, region)));
  return isListed === (filter_type === 'allow') ? 'passes' : 'fails';
}
