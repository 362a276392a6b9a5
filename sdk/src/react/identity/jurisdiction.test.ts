import { expect, test } from 'vitest';
import { createUi } from '../ui/ui.tsx';
import { describeJurisdiction } from './jurisdiction.ts';

test('a jurisdiction rule names its countries and regions', () => {
  const filters = [{ country_iso_2: 'CU' }, { country_iso_2: 'US', regions: ['NY'] }];
  expect(describeJurisdiction({ filter_type: 'reject', filters }, createUi())).toBe(
    'Not available to residents of Cuba and United States (NY).',
  );
  expect(describeJurisdiction({ filter_type: 'allow', filters: [{ country_iso_2: 'DE' }] }, createUi())).toBe(
    'Available to residents of Germany.',
  );
});
