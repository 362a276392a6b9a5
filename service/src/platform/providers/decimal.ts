import { parseUnits } from 'viem/utils';

/**
 * Parses a plain decimal and multiplies it by 10 to the power of `digits`. Returns null if the text is not a plain
 * decimal or the product is not an integer.
 */
export function parseDecimal(text: string, digits: number): bigint | null {
  const match = /^\d{1,78}(?:\.(\d{1,78}))?$/.exec(text);
  const [, fraction = ''] = match ?? [];
  if (match === null || /[1-9]/.test(fraction.slice(digits))) return null;
  return parseUnits(text, digits);
}
