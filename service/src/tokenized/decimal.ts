/** Exact conversions between decimal text and integers scaled by a power of ten. */

/** Null unless it is a plain decimal that the digits can hold. */
export function parseDecimal(text: string, digits: number): bigint | null {
  const match = /^(\d{1,78})(?:\.(\d{1,78}))?$/.exec(text);
  if (match === null) return null;
  const [, whole = '0', fraction = ''] = match;
  const kept = fraction.slice(0, digits);
  if (/[1-9]/.test(fraction.slice(digits))) return null;
  return BigInt(whole + kept.padEnd(digits, '0'));
}

/** Without needless zeros. */
export function formatDecimal(value: bigint, digits: number): string {
  if (digits === 0) return value.toString();
  const text = value.toString().padStart(digits + 1, '0');
  const fraction = text.slice(-digits).replace(/0+$/, '');
  const whole = text.slice(0, -digits);
  return fraction === '' ? whole : `${whole}.${fraction}`;
}
