import { findRegion, withParents } from './regions.ts';
import { UNITED_STATES } from './united-states.ts';

/** A country, or some of its regions. Regions are ISO 3166-2 codes without the country prefix, or names. */
export type Area = { country_iso_2: string; regions?: readonly string[] };

/** `region` is an ISO 3166-2 code, or null if it is missing or not recognized. */
type Place = { country: string; region: string | null };

/**
 * Returns whether an address is in one of the areas. Returns `unknown` if the answer depends on a region that is
 * missing or not recognized. A US territory counts both as a country and as a region of the United States.
 */
export function isInAreas(
  areas: readonly Area[],
  country: string,
  region: string | null,
): boolean | 'unknown' {
  const expanded = areas.flatMap(withUnitedStates);
  const results = placesOf(country, region).map((place) => isPlaceIn(expanded, place));
  if (results.includes(true)) return true;
  return results.includes('unknown') ? 'unknown' : false;
}

/** Returns a key that is the same for all spellings of the same country and region. */
export function placeKey(country: string, region: string | null): string {
  return JSON.stringify(placesOf(country, region));
}

function isPlaceIn(areas: readonly Area[], { country, region }: Place): boolean | 'unknown' {
  const ofCountry = areas.filter(({ country_iso_2 }) => country_iso_2 === country);
  if (ofCountry.some(({ regions }) => regions === undefined)) return true;
  const listed = ofCountry.flatMap(({ regions = [] }) => regions.map((each) => findRegion(country, each)));
  if (listed.length === 0) return false;
  if (region === null) return 'unknown';
  const around = withParents(region);
  if (listed.some((code) => code !== null && around.includes(code))) return true;
  // The answer is unknown if only part of the address's region is listed, or if a listed region was not recognized.
  return listed.some((code) => code === null || withParents(code).includes(region)) ? 'unknown' : false;
}

function placesOf(country: string, region: string | null): Place[] {
  if (country !== 'US' && UNITED_STATES.has(country))
    return [
      { country, region: null },
      { country: 'US', region: `US-${country}` },
    ];
  const code = region === null ? null : findRegion(country, region);
  if (code === null) return [{ country, region: null }];
  const owner = code.slice(0, 2);
  if (owner !== country)
    return [
      { country, region: null },
      { country: owner, region: code },
    ];
  const territory = code.slice(3);
  const isTerritory = country === 'US' && UNITED_STATES.has(territory);
  return [{ country, region: code }, ...(isTerritory ? [{ country: territory, region: null }] : [])];
}

function withUnitedStates(area: Area): Area[] {
  const { country_iso_2 } = area;
  if (country_iso_2 === 'US' || !UNITED_STATES.has(country_iso_2)) return [area];
  return [area, { country_iso_2: 'US', regions: [country_iso_2] }];
}
