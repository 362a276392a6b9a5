import type { Requirement } from '../../wire.ts';
import type { Ui } from '../ui/ui.tsx';

type Jurisdiction = Extract<Requirement, { type: 'jurisdiction' }>['details'];

/** Describes a jurisdiction rule in a sentence that lists its countries and regions. */
export function describeJurisdiction(
  { filter_type, filters }: Jurisdiction,
  { t, locale }: Pick<Ui, 't' | 'locale'>,
): string {
  const names = new Intl.DisplayNames(locale, { type: 'region', fallback: 'code' });
  const countries = filters.map(({ country_iso_2, regions }) => {
    const country = names.of(country_iso_2) ?? country_iso_2;
    return regions === undefined || regions.length === 0 ? country : `${country} (${regions.join(', ')})`;
  });
  const countryList = new Intl.ListFormat(locale, { type: 'conjunction' }).format(countries);
  return t(
    filter_type === 'allow'
      ? 'Available to residents of {countries}.'
      : 'Not available to residents of {countries}.',
    { countries: countryList },
  );
}
