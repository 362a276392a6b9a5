import { formatAmount } from '../../amounts.ts';

/**
 * Groups the digits of a decimal string: `1250000.5` becomes `1,250,000.5`.
 *
 * @example
 * ```ts
 * import { groupDigits } from '@causeway/sdk/react';
 *
 * console.log(groupDigits('1250000.5'));
 * ```
 */
export function groupDigits(decimal: string): string {
  const [whole = '', fraction] = decimal.split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

/** Formats smallest units as an amount with its token code: `1500000` with 6 decimals becomes `1.5 USDC`. */
export function formatTokenAmount(
  units: bigint | string,
  { decimals, code }: { decimals: number; code: string },
): string {
  return `${groupDigits(formatAmount(units, decimals))} ${code}`;
}

/**
 * Formats dollars exactly, with cents only if there are any: `1000` becomes `$1,000`, `1.5` becomes `$1.50`.
 *
 * @example
 * ```ts
 * import { formatUsd } from '@causeway/sdk/react';
 *
 * console.log(formatUsd('1000'), formatUsd('1.5'));
 * ```
 */
export function formatUsd(decimal: string): string {
  const [whole = '0', fraction = ''] = decimal.split('.');
  const digits = fraction.replace(/0+$/, '');
  return `$${groupDigits(digits === '' ? whole : `${whole}.${digits.padEnd(2, '0')}`)}`;
}

/** Formats dollars, always with cents: `1` becomes `$1.00`. */
export function formatPrice(decimal: string): string {
  const usd = formatUsd(decimal);
  return usd.includes('.') ? usd : `${usd}.00`;
}

/** Truncates rather than rounds, so that the result never exceeds the value. */
export function truncateDecimals(decimal: string, digits: number): string {
  const [whole = '0', fraction = ''] = decimal.split('.');
  const truncated = fraction.slice(0, digits).replace(/0+$/, '');
  return truncated === '' ? whole : `${whole}.${truncated}`;
}

/** Turns `harbour-quarter` into `Harbour Quarter`, to show until the name is loaded. */
export function slugToTitle(slug: string): string {
  return slug
    .split('-')
    .map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`)
    .join(' ');
}

const DATE = new Intl.DateTimeFormat('en-GB', {
  ...{ day: 'numeric', month: 'short', year: 'numeric' },
  timeZone: 'UTC',
});
const DATE_TIME = new Intl.DateTimeFormat('en-GB', {
  ...{ day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit' },
  timeZone: 'UTC',
});

/** Formats in UTC, so that the server and every browser render the same text. */
export function formatDate(iso: string): string {
  return DATE.format(new Date(iso));
}

export function formatDateTime(iso: string): string {
  return `${DATE_TIME.format(new Date(iso))} UTC`;
}

/**
 * Returns true only for http(s) URLs: operators write the links of offers, so a link may contain anything.
 */
export function isWebUrl(url: string | null): url is string {
  return url !== null && /^https?:\/\//i.test(url);
}
