import { parseUnits } from 'viem/utils';

/**
 * Parses a plain decimal into an integer scaled by `digits`. Returns null for any other text, or if digits would be
 * lost.
 */
export function parseDecimal(text: string, digits: number): bigint | null {
  const match = /^\d{1,78}(?:\.(\d{1,78}))?$/.exec(text);
  const [, fraction = ''] = match ?? [];
  if (match === null || /[1-9]/.test(fraction.slice(digits))) return null;
  return parseUnits(text, digits);
}
