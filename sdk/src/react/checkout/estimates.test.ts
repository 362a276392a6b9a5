import { expect, test } from 'vitest';
import { minReceived } from './fund-summary.tsx';
import { estimateTokens } from './sale-summary.tsx';

test('token estimates are truncated, so that they never promise more than the user receives', () => {
  expect(estimateTokens(125_500_000n, 6, '1.25')).toBe('100.4');
  expect(estimateTokens(1n, 6, '3')).toBe('0');
  expect(estimateTokens(1n, 6, null)).toBeNull();
});

test('the minimum received applies the slippage and rounds up, in favour of the user', () => {
  const preview = {
    object: 'swap_preview',
    fee: '0',
    pay_input_amount: '1',
    receive_output_amount: '1001',
  } as const;
  expect([minReceived(preview, 0), minReceived(preview, 50)]).toEqual([1001n, 996n]);
});
