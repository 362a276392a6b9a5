import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  cutDecimals,
  formatDate,
  formatMoment,
  formatPrice,
  formatUsd,
  groupDigits,
  titleOfSlug,
} from './format.ts';

test('grouping adds commas to the whole part and changes nothing else', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n }), fc.stringMatching(/^\d{0,18}$/), (whole, fraction) => {
      const decimal = fraction === '' ? `${whole}` : `${whole}.${fraction}`;
      const grouped = groupDigits(decimal);
      expect(grouped.replaceAll(',', '')).toBe(decimal);
      expect(grouped.split('.')[0]).toMatch(/^\d{1,3}(,\d{3})*$/);
    }),
  );
});

test('dollars are exact, with cents when there are any', () => {
  expect(['1.25', '1000', '1.5', '0.000000000000000001', '1234567.80'].map(formatUsd)).toEqual([
    '$1.25',
    '$1,000',
    '$1.50',
    '$0.000000000000000001',
    '$1,234,567.80',
  ]);
});

test('prices have cents always', () => {
  expect(['1', '1.5', '0.125', '1000'].map(formatPrice)).toEqual(['$1.00', '$1.50', '$0.125', '$1,000.00']);
});

test('cutting digits never makes a number larger', () => {
  expect(cutDecimals('187.34999', 4)).toBe('187.3499');
  expect(cutDecimals('187.30000', 4)).toBe('187.3');
  expect(cutDecimals('187.00009', 4)).toBe('187');
  expect(cutDecimals('187', 4)).toBe('187');
});

test('moments are told in UTC', () => {
  expect(formatDate('2026-01-02T23:59:59.000000Z')).toBe('2 Jan 2026');
  expect(formatMoment('2026-01-02T03:04:05.678901Z')).toBe('2 Jan 2026, 03:04 UTC');
});

test('a slug reads as a title', () => {
  expect(titleOfSlug('harbour-quarter')).toBe('Harbour Quarter');
});
