import fc from 'fast-check';
import { expect, test } from 'vitest';
import { minReceivedForOrder } from './tokenized-minimum.ts';

const amount = fc.bigInt({ min: 1n, max: 10n ** 30n });

test('an order at the quoted price is always accepted, whatever the fee', () => {
  fc.assert(
    fc.property(amount, amount, fc.nat(10_000), fc.nat(500), (pays, quoted, feeBps, slippage) => {
      const net = (pays * 10_000n) / (10_000n + BigInt(feeBps));
      const order = { notional_value: String(net), pay_input_amount: String(pays) };
      const received = (quoted * net) / pays;
      expect(received).toBeGreaterThanOrEqual(minReceivedForOrder(order, quoted, slippage));
    }),
  );
});

test('the minimum received applies the slippage to the payment without the fee', () => {
  const order = { notional_value: '100000000', pay_input_amount: '100500000' };
  const minimum = minReceivedForOrder(order, 1_005_000n, 100);
  expect(minimum).toBe(990_000n);
});
