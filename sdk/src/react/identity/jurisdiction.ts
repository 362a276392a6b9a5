import type { Requirement } from '../../wire.ts';

type Jurisdiction = Extract<Requirement, { type: 'jurisdiction' }>['details'];

/** Describes a jurisdiction rule in a sentence that names its countries and regions. */
export function describeJurisdiction({ filter_type, filters }: Jurisdiction): string {
  const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'code' });
  const countries = filters.map(({ country_iso_2, regions }) => {
    const country = names.of(country_iso_2) ?? country_iso_2;
    return regions === undefined || regions.length === 0 ? country : `${country} (${regions.join(', ')})`;
  });
  const list = new Intl.ListFormat('en', { type: 'conjunction' }).format(countries);
  return filter_type === 'allow'
    ? `Available to residents of ${list}.`
    : `Not available to residents of ${list}.`;
}
