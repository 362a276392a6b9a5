import fc from 'fast-check';
import { expect, test } from 'vitest';
import { feeBpsOf, netOf } from '../../fee.ts';
import { minReceived, priceOf } from './order-math.ts';
import { estimateTokens } from './sale-summary.tsx';

test('token estimates are truncated, so that they never promise more than the user receives', () => {
  const estimate = (units: bigint, price: string | null) =>
    estimateTokens({ units, decimals: 6 }, price, 'HRBR')?.units;
  expect(estimate(125_500_000n, '1.25')).toBe(100_400_000_000_000_000_000n);
  expect(estimate(1n, '3')).toBe(333_333_333_333n);
  expect(estimate(1n, null)).toBeUndefined();
});

test('the minimum received applies the slippage and rounds up, in favour of the user', () => {
  expect([minReceived('1001', 0), minReceived('1001', 50)]).toEqual([1001n, 996n]);
});

test('the amount after the fee is the one that the contract computes', () => {
  expect(netOf(250_000_000n, 50)).toBe(248_756_218n);
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 128n }), fc.integer({ min: 0, max: 1_000 }), (gross, bps) => {
      const net = netOf(gross, bps);
      // `net` is the largest amount that, with the fee added, does not exceed the payment.
      expect(net * BigInt(10_000 + bps) <= gross * 10_000n).toBe(true);
      expect((net + 1n) * BigInt(10_000 + bps) > gross * 10_000n).toBe(true);
    }),
  );
});

test('the fee rate of an order is the lowest that explains what is left', () => {
  expect(feeBpsOf(1_005_000_000n, 913_636_363n)).toBe(1_000);
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 2n ** 128n }), fc.integer({ min: 0, max: 1_000 }), (gross, bps) => {
      const net = netOf(gross, bps);
      const rate = feeBpsOf(gross, net);
      expect(netOf(gross, rate) <= net && rate <= bps).toBe(true);
      expect(rate === 0 || netOf(gross, rate - 1) > net).toBe(true);
    }),
  );
});

test('the price is that of one whole token, in whole units of what was paid', () => {
  const price = (units: bigint, received: bigint) =>
    priceOf({ units, decimals: 6 }, { units: received, decimals: 18 });
  expect(price(250_000_000n, 10n ** 18n)).toBe('250');
  expect(price(1n, 10n ** 18n)).toBe('0.000001');
  expect(price(225_112_500n, 2n * 10n ** 18n)).toBe('112.55625');
});
