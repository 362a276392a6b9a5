import { expect, test } from 'vitest';
import type { UserPii } from '../../wire.ts';
import { prefillFields } from './document-form.tsx';

test('the tax form is prefilled with known details and left blank elsewhere', () => {
  const pii: UserPii = {
    ...{ object: 'user_pii', kind: 'person', full_legal_name: 'Ada Byron', date_of_birth: '1990-12-10' },
    jurisdiction: { iso_2: 'GB', name: 'United Kingdom' },
    permanent_address: { street: '1 Lane', city: 'London', state: null, postal_code: 'N1', country: 'GB' },
    tax_id: null,
  };
  expect(prefillFields(pii, new Date(2026, 0, 2))).toEqual({
    ...{ 'Full Name': 'Ada Byron', DOB: '1990-12-10', Date: '2026-01-02' },
    ...{ Country: 'United Kingdom', 'Country Of Citizenship': 'United Kingdom' },
    ...{ 'Permanent Address': '1 Lane', City: 'London, N1', 'Foreign Tax Number': '' },
  });
});
