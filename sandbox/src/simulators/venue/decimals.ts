const UNIT = 10n ** 18n;

/** A decimal with at most 18 fraction digits as an integer scaled 1e18; null for anything else. */
export function parseScaled(text: unknown): bigint | null {
  if (typeof text !== 'string' || !/^\d{1,40}(\.\d{1,18})?$/.test(text)) return null;
  const [whole = '0', fraction = ''] = text.split('.');
  return BigInt(whole) * UNIT + BigInt(fraction.padEnd(18, '0'));
}

export function formatScaled(value: bigint): string {
  const fraction = (value % UNIT).toString().padStart(18, '0').replace(/0+$/, '');
  return fraction === '' ? `${value / UNIT}` : `${value / UNIT}.${fraction}`;
}
