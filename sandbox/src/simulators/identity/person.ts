import { toAlpha3 } from '@causeway/service/kernel/places/countries.ts';
import { type Static, Type } from 'typebox';
import type { Applicant, Info } from './applicant.ts';

/** The country of the example person or company if no country is set for the user. */
export const DEFAULT_COUNTRY = 'DE';

const Text = Type.Optional(Type.String({ maxLength: 300 }));

/** Personal data as a user enters it. Omitted fields stay unknown to the provider. */
export const Person = Type.Object(
  {
    first_name: Text,
    middle_name: Text,
    last_name: Text,
    company_name: Text,
    date_of_birth: Type.Optional(Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\d$' })),
    nationality: Type.Optional(Type.String({ pattern: '^[A-Z]{2}$' })),
    address: Type.Optional(
      Type.Object(
        {
          street: Text,
          city: Text,
          state: Text,
          postal_code: Text,
          country: Type.Optional(Type.String({ pattern: '^[A-Z]{2}$' })),
        },
        { additionalProperties: false },
      ),
    ),
    tax_id: Text,
  },
  { additionalProperties: false },
);
export type Person = Static<typeof Person>;

/**
 * Sets the applicant's `info` (data read from documents) and `fixedInfo` (data that the user entered). A person's
 * address and tax id are set only in `fixedInfo`.
 */
export function setPerson(applicant: Applicant, person: Person): void {
  const { street, city, state, postal_code, country } = person.address ?? {};
  const alpha3 = country === undefined ? null : toAlpha3(country);
  const address = dropEmpty({
    street,
    town: city,
    state,
    postCode: postal_code,
    country: alpha3 ?? undefined,
  });
  const addresses = Object.keys(address).length > 0 ? { addresses: [address] } : {};
  if (applicant.type === 'company') {
    const companyInfo = {
      ...dropEmpty({ companyName: person.company_name, taxId: person.tax_id, country: alpha3 ?? undefined }),
      ...addresses,
    };
    applicant.info = { companyInfo };
    applicant.fixedInfo = { companyInfo };
    return;
  }
  const names = dropEmpty({
    firstName: person.first_name,
    middleName: person.middle_name,
    lastName: person.last_name,
    dob: person.date_of_birth,
  });
  const nationality =
    person.nationality === undefined ? undefined : (toAlpha3(person.nationality) ?? undefined);
  applicant.info = { ...names, ...dropEmpty({ nationality }) };
  applicant.fixedInfo = { ...names, ...dropEmpty({ tin: person.tax_id, nationality }), ...addresses };
}

function dropEmpty<T extends Record<string, string | undefined>>(fields: T): { [K in keyof T]?: string } {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== ''),
  ) as { [K in keyof T]?: string };
}

export function isEmpty(info: Info): boolean {
  return Object.keys(info).length === 0;
}

/** Returns an example person or company, for callers that provide no data. */
export function examplePerson(kind: 'person' | 'company', country: string): Person {
  const address = { street: '1 Example Street', city: 'Exampleton', postal_code: '10000', country };
  if (kind === 'company') return { company_name: 'Example Holdings', tax_id: 'EX-0001', address };
  return {
    first_name: 'Sam',
    last_name: 'Example',
    date_of_birth: '1990-01-01',
    nationality: country,
    tax_id: '000-11-2222',
    address,
  };
}
