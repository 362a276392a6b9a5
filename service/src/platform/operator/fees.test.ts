import { describe, expect, test } from 'vitest';
import { feeLimits } from './account.ts';
import { Blocked } from './blocked.ts';
import { isOutbid, limitFees, raiseFees } from './fees.ts';

const CAPS = { maxFee: 100n, maxTip: 5n };

describe('fees', () => {
  test('offer the market tip, up to its own cap', () => {
    const tipOf = (tip: bigint) => limitFees('chain', { baseFee: 10n, tip }, CAPS).priorityFee;
    expect([tipOf(3n), tipOf(5n), tipOf(90n)]).toEqual([3n, 5n, 5n]);
  });

  test('never exceed the cap, and block settlement if the base fee alone does', () => {
    expect(limitFees('chain', { baseFee: 98n, tip: 5n }, CAPS)).toEqual({ maxFee: 100n, priorityFee: 2n });
    expect(() => limitFees('chain', { baseFee: 101n, tip: 0n }, CAPS)).toThrow(Blocked);
  });

  test('are not outbid by a tip above the cap, which raising them could not match', () => {
    const offered = { maxFee: 60n, priorityFee: 5n };
    expect(isOutbid(offered, { baseFee: 20n, tip: 1_000n }, CAPS)).toBe(false);
    expect(isOutbid(offered, { baseFee: 56n, tip: 5n }, CAPS)).toBe(true);
  });

  test('grow by an eighth for a replacement, or not at all beyond a cap', () => {
    const market = { maxFee: 20n, priorityFee: 2n };
    expect(raiseFees({ maxFee: 40n, priorityFee: 2n }, market, CAPS)).toEqual({
      maxFee: 46n,
      priorityFee: 3n,
    });
    expect(raiseFees({ maxFee: 96n, priorityFee: 2n }, market, CAPS)).toBeNull();
    expect(raiseFees({ maxFee: 40n, priorityFee: 8n }, market, CAPS)).toBeNull();
  });

  test('have the cap of their chain, or else the common one', () => {
    const config = {
      ...{
        operatorMaxFee: 7n,
        operatorMaxFees: { base_mainnet: 2n },
        operatorMaxTip: 1n,
        operatorDailyLimit: 9n,
      },
    };
    expect(feeLimits(config, 'base_mainnet').maxFee).toBe(2n);
    expect(feeLimits(config, 'ethereum_mainnet')).toEqual({ maxFee: 7n, maxTip: 1n, dailyLimit: 9n });
  });
});
