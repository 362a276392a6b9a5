import fc from 'fast-check';
import { expect, test } from 'vitest';
import { leastReceived } from './use-tokenized-purchase.ts';

const amount = fc.bigInt({ min: 1n, max: 10n ** 30n });

test('an order at the price of the quote is never refused, whatever the fee', () => {
  fc.assert(
    fc.property(amount, amount, fc.nat(10_000), fc.nat(500), (pays, quoted, feeBps, slippage) => {
      const net = (pays * 10_000n) / (10_000n + BigInt(feeBps));
      const order = { notional_value: String(net), pay_input_amount: String(pays) };
      const received = (quoted * net) / pays;
      expect(received).toBeGreaterThanOrEqual(leastReceived(order, quoted, slippage));
    }),
  );
});

test('an order that gives less than the tolerance allows is refused', () => {
  const order = { notional_value: '100000000', pay_input_amount: '100500000' };
  const least = leastReceived(order, 1_005_000n, 100);
  expect(least).toBe(990_000n);
});
