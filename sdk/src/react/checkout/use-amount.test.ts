import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatAmount } from '../../amounts.ts';
import { groupDigits } from '../ui/format.ts';
import { createUi } from '../ui/ui.tsx';
import { checkAmount as checkIn } from './use-amount.ts';

const english = createUi();
const checkAmount = (text: string, given: Parameters<typeof checkIn>[1]) => checkIn(text, given, english);

const limits = { decimals: 6, code: 'USDC', balance: undefined };

test('amounts are parsed exactly, with and without digit groups', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 2n ** 200n }), (units) => {
      const text = formatAmount(units, 6);
      for (const typed of [text, groupDigits(text), ` ${text} `])
        expect(checkAmount(typed, limits)).toEqual({ units, problem: null });
    }),
  );
});

test.each(['', 'ten', '1e3', '-1', '1,25', '1.2.3', '0x10', '.', '1,2500', '0,500', '00,500.5'])(
  '%j is not an amount',
  (text) => {
    expect(checkAmount(text, limits)).toEqual({
      units: null,
      problem: 'Enter an amount, for example 250.50.',
    });
  },
);

test('an amount with more decimals than the token is rejected, not rounded', () => {
  expect(checkAmount('1.0000001', limits).problem).toBe('USDC has at most 6 decimal places.');
});

test('messages about limits include the limit', () => {
  const check = (text: string) =>
    checkAmount(text, { ...limits, minimum: 10_000_000n, maximum: 5_000_000_000n, balance: 1_500_500_000n });
  expect(check('9.999999').problem).toBe('The minimum is 10 USDC.');
  expect(check('10').problem).toBeNull();
  expect(check('1500.5').problem).toBeNull();
  expect(check('1500.500001').problem).toBe('Your balance is 1,500.5 USDC.');
  expect(check('5000.000001').problem).toBe('You can pay up to 5,000 USDC right now.');
  expect(check('0').problem).toBe('Enter an amount above zero.');
});
