import { describe, expect, test } from 'vitest';
import type { Check, Eligibility } from '../../wire.ts';
import { blockersOf, isFinal } from './blockers.ts';

const check = (
  code: Check['code'],
  status: Check['status'],
  requirement_id: string | null = null,
): Check => ({
  ...{ object: 'check', code, requirement_id, status, message: code, until: null, next: null },
});
const eligibility = (checks: Check[]): Eligibility => ({
  ...{ object: 'eligibility', offer_id: 'offer', eligible: false },
  options: [
    {
      object: 'option_eligibility',
      offer_option_id: 'other',
      eligible: false,
      checks: [check('supply', 'rejected')],
    },
    { object: 'option_eligibility', offer_option_id: 'option', eligible: false, checks },
  ],
});
const codes = (checks: Check[]) => blockersOf(eligibility(checks), 'option').map(({ code }) => code);

describe('blockers', () => {
  test('are what the user cannot resolve in the checklist, rejections first', () => {
    const checks = [
      check('account', 'passed'),
      check('country_policy', 'waiting'),
      check('kyc_approved', 'action_needed', 'a'),
      check('accreditation', 'waiting', 'b'),
      check('jurisdiction', 'rejected', 'c'),
      check('supply', 'rejected'),
    ];
    expect(codes(checks)).toEqual(['jurisdiction', 'supply', 'country_policy']);
    expect(isFinal(blockersOf(eligibility(checks), 'option'))).toBe(true);
  });

  test('are not what the checkout resolves itself, nor an offer that opens later', () => {
    const checks = [
      check('wallet_proof', 'action_needed'),
      check('allow_list', 'action_needed'),
      check('allow_list', 'waiting'),
      check('offer_window', 'waiting'),
    ];
    expect(codes(checks)).toEqual([]);
    expect(isFinal([])).toBe(false);
  });

  test('are empty for an unknown option, and until the service has answered', () => {
    expect(blockersOf(eligibility([]), 'nonsense')).toEqual([]);
    expect(blockersOf(undefined, 'option')).toEqual([]);
  });
});
