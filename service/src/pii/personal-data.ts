import type { UserKind } from '../accounts/user.ts';
import { UNITED_STATES } from './united-states.ts';

/** Personal data as we keep it; countries by two letters, null for what is not known. */
export type PersonalData = {
  full_legal_name: string | null;
  date_of_birth: string | null;
  tax_id: string | null;
  nationality: string | null;
  tax_residence: string | null;
  street: string | null;
  city: string | null;
  state: string | null;
  postal_code: string | null;
  country: string | null;
};

/** What the rules need to know of it. */
export type PiiFacts = {
  country: string | null;
  region: string | null;
  /** Whether everything that an approved identity must bring is there. */
  isComplete: boolean;
  /** Whether anything says that a W-9 is the right form. */
  isUnitedStates: boolean;
};

export const PII_FIELDS = [
  'full_legal_name',
  'date_of_birth',
  'tax_id',
  'nationality',
  'tax_residence',
  'street',
  'city',
  'state',
  'postal_code',
  'country',
] as const satisfies readonly (keyof PersonalData)[];

export const NO_DATA: PersonalData = {
  full_legal_name: null,
  date_of_birth: null,
  tax_id: null,
  nationality: null,
  tax_residence: null,
  street: null,
  city: null,
  state: null,
  postal_code: null,
  country: null,
};

export function factsOf(data: PersonalData, kind: UserKind): PiiFacts {
  const needed = kind === 'person' ? [data.full_legal_name, data.date_of_birth] : [data.full_legal_name];
  return {
    country: data.country,
    region: data.state,
    isComplete: [...needed, data.country].every((value) => value !== null),
    isUnitedStates: [data.country, data.nationality, data.tax_residence].some(
      (country) => country !== null && UNITED_STATES.has(country),
    ),
  };
}

/** The fields whose values differ. */
export function changedFields(before: PersonalData, after: PersonalData): string[] {
  return PII_FIELDS.filter((field) => before[field] !== after[field]);
}
