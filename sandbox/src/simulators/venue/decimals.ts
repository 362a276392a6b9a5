const UNIT = 10n ** 18n;

/** Parses a decimal with at most 18 fraction digits into an integer scaled by 1e18. Returns null for anything else. */
export function parseScaled(text: unknown): bigint | null {
  if (typeof text !== 'string' || !/^\d{1,40}(\.\d{1,18})?$/.test(text)) return null;
  const [whole = '0', fraction = ''] = text.split('.');
  return BigInt(whole) * UNIT + BigInt(fraction.padEnd(18, '0'));
}

/** Formats an integer scaled by 1e18 as a decimal without trailing zeros. */
export function formatScaled(value: bigint): string {
  const fraction = (value % UNIT).toString().padStart(18, '0').replace(/0+$/, '');
  return fraction === '' ? `${value / UNIT}` : `${value / UNIT}.${fraction}`;
}
