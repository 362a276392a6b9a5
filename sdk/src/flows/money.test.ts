import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FlowFailure } from './flow.ts';
import { compareToDecimal, minimumAfterSlippage, parseSmallestUnits } from './money.ts';

const amounts = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n });

test('the least after slippage is the smallest amount that is not below the allowed part', () => {
  fc.assert(
    fc.property(amounts, fc.integer({ min: 0, max: 9_999 }), (expected, bps) => {
      const least = minimumAfterSlippage(expected, bps);
      const isEnough = (one: bigint) => one * 10_000n >= expected * BigInt(10_000 - bps);
      expect(isEnough(least)).toBe(true);
      expect(least === 0n || !isEnough(least - 1n)).toBe(true);
      expect(least <= expected).toBe(true);
    }),
  );
});

test('without slippage, the least is what is expected', () => {
  fc.assert(fc.property(amounts, (expected) => minimumAfterSlippage(expected, 0) === expected));
});

test.each([-1, 10_000, 0.5, Number.NaN, Number.POSITIVE_INFINITY])('%s is no slippage', (bps) => {
  expect(() => minimumAfterSlippage(1n, bps)).toThrow(FlowFailure);
});

test('amounts are whole numbers of smallest units above zero that a contract can take', () => {
  const good = fc.bigInt({ min: 1n, max: 2n ** 256n - 1n });
  fc.assert(
    fc.property(good, (one) => parseSmallestUnits(String(one)) === one && parseSmallestUnits(one) === one),
  );
  for (const bad of [
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
    expect(() => parseSmallestUnits(bad), String(bad)).toThrow(FlowFailure);
});

test('smallest units compare with decimals exactly', () => {
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
