import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FlowFailure } from './flow.ts';
import { compareToDecimal, minimumAfterSlippage, parseSmallestUnits } from './money.ts';

const amounts = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n });

test('minimumAfterSlippage returns the smallest amount within the slippage', () => {
  fc.assert(
    fc.property(amounts, fc.integer({ min: 0, max: 9_999 }), (expected, bps) => {
      const minimum = minimumAfterSlippage(expected, bps);
      const isEnough = (amount: bigint) => amount * 10_000n >= expected * BigInt(10_000 - bps);
      expect(isEnough(minimum)).toBe(true);
      expect(minimum === 0n || !isEnough(minimum - 1n)).toBe(true);
      expect(minimum <= expected).toBe(true);
    }),
  );
});

test('minimumAfterSlippage returns the expected amount without slippage', () => {
  fc.assert(fc.property(amounts, (expected) => minimumAfterSlippage(expected, 0) === expected));
});

test.each([-1, 10_000, 0.5, Number.NaN, Number.POSITIVE_INFINITY])(
  'minimumAfterSlippage rejects a slippage of %s',
  (bps) => {
    expect(() => minimumAfterSlippage(1n, bps)).toThrow(FlowFailure);
  },
);

test('parseSmallestUnits accepts positive uint256 integers only', () => {
  const valid = fc.bigInt({ min: 1n, max: 2n ** 256n - 1n });
  const parses = (units: bigint) =>
    parseSmallestUnits(String(units)) === units && parseSmallestUnits(units) === units;
  fc.assert(fc.property(valid, parses));
  for (const invalid of [
    '',
    '0',
    '-1',
    '1.5',
    '01',
    ' 1',
    '0x10',
    '1e6',
    0n,
    -5n,
    2n ** 256n,
    String(2n ** 256n),
  ])
    expect(() => parseSmallestUnits(invalid), String(invalid)).toThrow(FlowFailure);
});

test('compareToDecimal compares smallest units with decimals exactly', () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 0n, max: 10n ** 30n }),
      fc.integer({ min: 0, max: 18 }),
      (units, decimals) => {
        const text = units.toString().padStart(decimals + 1, '0');
        const decimal = decimals === 0 ? text : `${text.slice(0, -decimals)}.${text.slice(-decimals)}`;
        expect(compareToDecimal(units, decimals, decimal)).toBe(0);
        expect(compareToDecimal(units + 1n, decimals, decimal)).toBe(1);
        if (units > 0n) expect(compareToDecimal(units - 1n, decimals, decimal)).toBe(-1);
      },
    ),
  );
  expect(compareToDecimal(1_000_000n, 6, '1.000000000000000001')).toBe(-1);
});
