import { describe, expect, test } from 'vitest';
import { CausewayError } from '../../error.ts';
import { FlowError } from '../../flows/flow.ts';
import type { UserPii } from '../../wire.ts';
import { isSafeToRepeat } from '../checkout/checkout-parts.tsx';
import { describePlaces } from '../checkout/deployments.ts';
import { leastOf } from '../checkout/fund-swap-parts.tsx';
import { tokensFor } from '../checkout/token-sale-parts.tsx';
import { parseSale } from '../checkout/unfinished-sale.ts';
import { fieldsOf } from '../identity/document-form.tsx';
import { adviseOn, referenceOf } from './error-messages.ts';

const failure = (code: string, errors = {}) =>
  new CausewayError({ code, status: 422, message: 'as the service says', eventId: 'req-1', errors });

describe('an error in words', () => {
  test('says what happened and what to do, with the reference of the service behind a flow', () => {
    const error = new FlowError('checking', 'insufficient_balance', 'x', {
      cause: failure('insufficient_balance'),
    });
    expect(adviseOn(error)).toEqual({
      title: 'Your wallet does not hold enough',
      advice: 'Choose a smaller amount or add funds.',
      signIn: false,
    });
    expect(referenceOf(error)).toBe('req-1');
  });

  test('names the fields that are wrong, and falls back to the message of a code that is new', () => {
    expect(adviseOn(failure('validation_failed', { amount: ['is too small', 'is odd'] })).advice).toBe(
      'amount: is too small, is odd',
    );
    expect(adviseOn(failure('from_the_future')).advice).toBe('as the service says');
    expect(adviseOn(failure('constructor')).advice).toBe('as the service says');
    expect(adviseOn(null).advice).toBe('Please try again.');
  });
});

test('a purchase that may still happen is not offered again', () => {
  const after = (phase: string, code: string) => isSafeToRepeat({ phase, error: failure(code) });
  expect(after('confirming', 'confirmation_timeout')).toBe(false);
  expect(after('confirming', 'network_error')).toBe(false);
  expect(after('confirming', 'outcome_unknown')).toBe(false);
  expect(after('confirming', 'transaction_reverted')).toBe(true);
  expect(after('broadcasting', 'user_rejected')).toBe(true);
});

test('the tax form is filled with what is known, and blank where nothing is', () => {
  const pii: UserPii = {
    ...{ object: 'user_pii', kind: 'person', full_legal_name: 'Ada Byron', date_of_birth: '1990-12-10' },
    jurisdiction: { iso_2: 'GB', name: 'United Kingdom' },
    permanent_address: { street: '1 Lane', city: 'London', state: null, postal_code: 'N1', country: 'GB' },
    tax_id: null,
  };
  expect(fieldsOf(pii, new Date(2026, 0, 2))).toEqual({
    ...{ 'Full Name': 'Ada Byron', Signature: 'Ada Byron', DOB: '1990-12-10', Date: '2026-01-02' },
    ...{ Country: 'United Kingdom', 'Country Of Citizenship': 'United Kingdom' },
    ...{ 'Permanent Address': '1 Lane', City: 'London, N1', 'Foreign Tax Number': '' },
  });
});

test('places of a rule are named', () => {
  const filters = [{ country_iso_2: 'CU' }, { country_iso_2: 'US', regions: ['NY'] }];
  expect(describePlaces({ filter_type: 'reject', filters })).toBe(
    'Not available to residents of Cuba and United States (NY).',
  );
  expect(describePlaces({ filter_type: 'allow', filters: [{ country_iso_2: 'DE' }] })).toBe(
    'Available to residents of Germany.',
  );
});

test('an unfinished purchase is read back, and nothing else is taken for one', () => {
  const sale = {
    ...{ optionId: 'o', chain: 'base_sepolia', assetId: 'usd-coin', amount: '50000000', wallet: '0x1' },
    approvalHash: `0x${'ab'.repeat(32)}`,
  };
  expect(parseSale(JSON.stringify(sale))).toEqual(sale);
  const wrong = [
    { ...sale, amount: '0' },
    { ...sale, amount: '1.5' },
    { ...sale, approvalHash: '0x1' },
  ];
  for (const text of [null, '', '{', 'null', '[]', '{}', ...wrong.map((one) => JSON.stringify(one))])
    expect(parseSale(text)).toBeNull();
});

test('estimates never promise more than is received', () => {
  expect(tokensFor(125_500_000n, 6, '1.25')).toBe('100.4');
  expect(tokensFor(1n, 6, '3')).toBe('0');
  expect(tokensFor(1n, 6, null)).toBeNull();
  const preview = {
    object: 'swap_preview',
    fee: '0',
    pay_input_amount: '1',
    receive_output_amount: '1001',
  } as const;
  expect([leastOf(preview, 0), leastOf(preview, 50)]).toEqual([1001n, 996n]);
});
