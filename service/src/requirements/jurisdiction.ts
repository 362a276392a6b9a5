import type { Static } from 'typebox';
import { regionKey } from '../pii/regions.ts';
import type { JurisdictionDetails } from './schema.ts';

/**
 * Whether an address passes. `unknown` when it does not say enough to tell: no country, or no region where the country
 * is listed by its regions. Nobody passes for want of an answer.
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
    (region !== null && regions.some((one) => regionKey(country, one) === regionKey(country, region)));
  return isListed === (filter_type === 'allow') ? 'passes' : 'fails';
}
