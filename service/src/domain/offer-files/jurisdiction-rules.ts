import { closestRegion } from '../../kernel/places/closest-region.ts';
import { findCountry } from '../../kernel/places/countries.ts';
import { findRegion } from '../../kernel/places/regions.ts';
import type { FileRequirement } from './file-schema.ts';

type Report = (path: string, message: string) => void;

/** Common mistakes: codes that are not ISO 3166-1 country codes, each with the code that people mean. */
const USUAL_MISTAKES: Readonly<Record<string, string>> = { UK: 'GB', EL: 'GR' };

/** Reports countries and regions that do not exist, because a rule about them would match nobody. */
export function checkJurisdictions(
  requirements: readonly FileRequirement[],
  at: string,
  report: Report,
): void {
  requirements.forEach((requirement, index) => {
    if (requirement.type !== 'jurisdiction') return;
    requirement.details.filters.forEach(({ country_iso_2: code, regions = [] }, filter) => {
      const path = `${at}.${index}.details.filters.${filter}`;
      const country = findCountry(code);
      if (country === null) report(`${path}.country_iso_2`, unknownCountry(code));
      regions.forEach((region, position) => {
        if (country !== null && findRegion(code, region) === null)
          report(`${path}.regions.${position}`, unknownRegion(code, country.name, region));
      });
    });
  });
}

function unknownCountry(code: string): string {
  const meant = USUAL_MISTAKES[code];
  const hint = meant === undefined ? '' : `; did you mean ${meant}?`;
  return `${code} is not an ISO 3166-1 country code${hint}`;
}

function unknownRegion(code: string, country: string, region: string): string {
  const closest = closestRegion(code, region);
  const hint =
    closest === null
      ? `; use an ISO 3166-2 code without the prefix "${code}-"`
      : `; did you mean ${closest.code.slice(3)} (${closest.name})?`;
  return `${region} is not a region of ${country}${hint}`;
}
