/**
 * Converts smallest units to a decimal string, without floating point: `"1000500000"` with 6 digits is `"1000.5"`.
 *
 * @example
 * ```ts
 * import { formatAmount } from '@causeway/sdk';
 *
 * console.log(formatAmount('1000500000', 6)); // "1000.5"
 * ```
 */
export function formatAmount(amount: string | bigint, digits: number): string {
  const text = BigInt(amount)
    .toString()
    .padStart(digits + 1, '0');
  const whole = text.slice(0, text.length - digits);
  const fraction = text.slice(text.length - digits).replace(/0+$/, '');
  return fraction === '' ? whole : `${whole}.${fraction}`;
}

/**
 * Converts a decimal string to smallest units: `"1000.5"` with 6 digits is `"1000500000"`. Returns null if the text is
 * not an amount or has more than `digits` decimals.
 *
 * @example
 * ```ts
 * import { parseAmount } from '@causeway/sdk';
 *
 * console.log(parseAmount('1000.5', 6)); // "1000500000"
 * console.log(parseAmount('0.0000001', 6)); // null: the token has six digits
 * ```
 */
export function parseAmount(text: string, digits: number): string | null {
  const parts = /^(\d*)(?:\.(\d*))?$/.exec(text.trim());
  const [whole = '', fraction = ''] = parts?.slice(1) ?? [];
  if (parts === null || whole + fraction === '' || fraction.length > digits) return null;
  const units = BigInt(whole + fraction.padEnd(digits, '0'));
  return units < 2n ** 256n ? units.toString() : null;
}
