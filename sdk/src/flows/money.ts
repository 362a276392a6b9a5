import { Stop } from './flow.ts';

const MAX_UINT256 = 2n ** 256n - 1n;
const FULL_BPS = 10_000n;

/** Smallest units, more than zero. */
export function readAmount(amount: string | bigint, name = 'amount'): bigint {
  const isWritten = typeof amount === 'bigint' || /^(0|[1-9]\d*)$/.test(amount);
  const units = isWritten ? BigInt(amount) : 0n;
  if (units > 0n && units <= MAX_UINT256) return units;
  throw new Stop('invalid_input', `${name} must be a whole number of smallest units above 0.`, {
    details: { [name]: String(amount) },
  });
}

/** Never allows more slippage than asked for: what is left of a unit counts as a whole one. */
export function leastAfterSlippage(expected: bigint, slippageBps: number): bigint {
  if (!Number.isInteger(slippageBps) || slippageBps < 0 || slippageBps >= FULL_BPS)
    throw new Stop('invalid_input', 'slippageBps must be a whole number from 0 to 9999.', {
      details: { slippageBps },
    });
  return (expected * (FULL_BPS - BigInt(slippageBps)) + FULL_BPS - 1n) / FULL_BPS;
}

/** Whether an amount in smallest units is below (-1), at (0) or above (1) a decimal number of whole units. */
export function compareToDecimal(amount: bigint, decimals: number, decimal: string): -1 | 0 | 1 {
  const [whole = '0', fraction = ''] = decimal.split('.');
  const left = amount * 10n ** BigInt(fraction.length);
  const right = BigInt(whole + fraction) * 10n ** BigInt(decimals);
  return left < right ? -1 : left > right ? 1 : 0;
}
