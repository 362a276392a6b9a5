import { createHmac } from 'node:crypto';
import { isInAreas } from '../places/areas.ts';
import { foldKey, foldText } from '../places/fold.ts';
import { UNITED_STATES } from '../places/united-states.ts';

export type UserKind = 'person' | 'company';

/** The personal data that the service stores. Countries are ISO 3166-1 alpha-2; null means unknown. */
export type PersonalData = {
  full_legal_name: string | null;
  /**
   * First and last name are set only for persons, not for companies. They are in Latin letters if the provider has a
   * Latin spelling.
   */
  first_name: string | null;
  last_name: string | null;
  date_of_birth: string | null;
  tax_id: string | null;
  nationality: string | null;
  tax_residence: string | null;
  /**
   * The user's country according to the provider, and the countries that issued the identity documents, separated by
   * spaces.
   */
  identity_countries: string | null;
  street: string | null;
  city: string | null;
  state: string | null;
  postal_code: string | null;
  country: string | null;
};

/** The facts that eligibility rules use, derived from personal data. */
export type PiiFacts = {
  country: string | null;
  region: string | null;
  /**
   * Whether all data required for an approved identity is present: the name, the country and, for a person, the date of
   * birth.
   */
  isComplete: boolean;
  /** Whether any field makes the user a US person, who needs a W-9. */
  isUnitedStates: boolean;
  /** Identifies the person or company: a keyed hash. */
  person: string;
  /** The key of the hash in `person`, in base64. */
  personKey: string;
  /** Places of residence that the user has left. They are deleted when an operator approves the current country. */
  formerPlaces?: readonly FormerPlace[];
};

export type FormerPlace = { country: string; region: string | null; left_at: string };

export const PII_FIELDS = [
  'full_legal_name',
  'first_name',
  'last_name',
  'date_of_birth',
  'tax_id',
  'nationality',
  'tax_residence',
  'identity_countries',
  'street',
  'city',
  'state',
  'postal_code',
  'country',
] as const satisfies readonly (keyof PersonalData)[];

export const NO_DATA: PersonalData = {
  full_legal_name: null,
  first_name: null,
  last_name: null,
  date_of_birth: null,
  tax_id: null,
  nationality: null,
  tax_residence: null,
  identity_countries: null,
  street: null,
  city: null,
  state: null,
  postal_code: null,
  country: null,
};

export function factsOf(data: PersonalData, kind: UserKind, personKey: string): PiiFacts {
  const required = kind === 'person' ? [data.full_legal_name, data.date_of_birth] : [data.full_legal_name];
  return {
    country: data.country,
    region: data.state,
    isComplete: [...required, data.country].every((value) => value !== null),
    isUnitedStates: isUnitedStates(data),
    person: hashPerson(personKey, kind, data),
    personKey,
  };
}

/**
 * Returns a keyed hash of the person (first name, last name and date of birth) or of the company (its name).
 * Case, diacritics, punctuation and middle names make no difference. `key` is in base64.
 */
function hashPerson(key: string, kind: UserKind, data: PersonalData): string {
  const names = kind === 'company' ? [foldKey(data.full_legal_name ?? '')] : personNames(data);
  const text = JSON.stringify([kind, ...names, kind === 'company' ? '' : (data.date_of_birth ?? '')]);
  return createHmac('sha256', Buffer.from(key, 'base64')).update(text).digest('hex');
}

function personNames({ first_name, last_name, full_legal_name }: PersonalData): string[] {
  if ((first_name ?? last_name) !== null) return [foldKey(first_name ?? ''), foldKey(last_name ?? '')];
  // The provider may know only the full name.
  const words = foldText(full_legal_name ?? '').split(' ');
  return [words[0] ?? '', words.at(-1) ?? ''];
}

function isUnitedStates({ country, nationality, tax_residence, identity_countries, ...data }: PersonalData) {
  const countries = [country, nationality, tax_residence, ...(identity_countries ?? '').split(' ')];
  return (
    countries.some((each) => each !== null && UNITED_STATES.has(each)) ||
    (country !== null && isInAreas([{ country_iso_2: 'US' }], country, data.state) === true)
  );
}

/** Returns the fields whose values differ. */
export function changedFields(before: PersonalData, after: PersonalData): string[] {
  return PII_FIELDS.filter((field) => before[field] !== after[field]);
}
