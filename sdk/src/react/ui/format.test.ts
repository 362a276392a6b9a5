import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatsOf, formatUsd, groupDigits, slugToTitle, truncateDecimals, truncatePrice } from './format.ts';

const english = formatsOf('en-GB');

test('groupDigits adds commas to the whole part and changes nothing else', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n }), fc.stringMatching(/^\d{0,18}$/), (whole, fraction) => {
      const decimal = fraction === '' ? `${whole}` : `${whole}.${fraction}`;
      const grouped = groupDigits(decimal);
      expect(grouped.replaceAll(',', '')).toBe(decimal);
      expect(grouped.split('.')[0]).toMatch(/^\d{1,3}(,\d{3})*$/);
    }),
  );
});

test('formatUsd is exact and always shows cents', () => {
  expect(['1.25', '1000', '1.5', '0.000000000000000001', '1234567.80'].map(formatUsd)).toEqual([
    '$1.25',
    '$1,000.00',
    '$1.50',
    '$0.000000000000000001',
    '$1,234,567.80',
  ]);
});

test('token amounts group digits and appends the token code', () => {
  expect(english.tokenAmount(1_250_500_000n, { decimals: 6, code: 'USDC' })).toBe('1,250.5 USDC');
});

test('truncateDecimals never makes a number larger', () => {
  expect(truncateDecimals('187.34999', 4)).toBe('187.3499');
  expect(truncateDecimals('187.30000', 4)).toBe('187.3');
  expect(truncateDecimals('187.00009', 4)).toBe('187');
  expect(truncateDecimals('187', 4)).toBe('187');
});

test('prices have cents from 100 on and four decimals below, and are never cut to zero', () => {
  const prices = [
    '1.0954152',
    '99.99999',
    '225.5678',
    '1000',
    '0.5',
    '0.012345',
    '0.00019',
    '0.0000123456',
    '0',
  ];
  expect(prices.map((price) => formatUsd(truncatePrice(price)))).toEqual([
    ...[
      '$1.0954',
      '$99.9999',
      '$225.56',
      '$1,000.00',
      '$0.50',
      '$0.0123',
      '$0.00019',
      '$0.0000123456',
      '$0.00',
    ],
  ]);
});

test('dates and times are formatted in UTC', () => {
  expect(english.date('2026-01-02T23:59:59.000000Z')).toBe('2 Jan 2026');
  expect(english.dateTime('2026-01-02T03:04:05.678901Z')).toBe('2 Jan 2026, 03:04 UTC');
});

test('slugToTitle capitalises each word', () => {
  expect(slugToTitle('harbour-quarter')).toBe('Harbour Quarter');
});
