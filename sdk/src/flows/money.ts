import { FlowFailure } from './flow.ts';

const MAX_UINT256 = 2n ** 256n - 1n;
const FULL_BPS = 10_000n;

/** Parses an amount in smallest units. Throws `invalid_input` unless it is a positive uint256. */
export function parseSmallestUnits(amount: string | bigint, name = 'amount'): bigint {
  const isInteger = typeof amount === 'bigint' || /^(0|[1-9]\d*)$/.test(amount);
  const units = isInteger ? BigInt(amount) : 0n;
  if (units > 0n && units <= MAX_UINT256) return units;
  throw new FlowFailure(
    'invalid_input',
    `${name} must be a positive integer in smallest units; see parseAmount().`,
    { details: { [name]: String(amount) } },
  );
}

/**
 * Returns the minimum output for a given slippage. Rounds up, so that the minimum never allows more slippage than
 * requested.
 */
export function minimumAfterSlippage(expected: bigint, slippageBps: number): bigint {
  if (!Number.isInteger(slippageBps) || slippageBps < 0 || slippageBps >= FULL_BPS)
    throw new FlowFailure('invalid_input', 'slippageBps must be an integer from 0 to 9999.', {
      details: { slippageBps },
    });
  return (expected * (FULL_BPS - BigInt(slippageBps)) + FULL_BPS - 1n) / FULL_BPS;
}

/**
 * Compares an amount in smallest units with a decimal number of whole units. Returns -1 if the amount is smaller, 0 if
 * it is equal, and 1 if it is larger.
 */
export function compareToDecimal(amount: bigint, decimals: number, decimal: string): -1 | 0 | 1 {
  const [whole = '0', fraction = ''] = decimal.split('.');
  const left = amount * 10n ** BigInt(fraction.length);
  const right = BigInt(whole + fraction) * 10n ** BigInt(decimals);
  return left < right ? -1 : left > right ? 1 : 0;
}
