import { formatAmount } from '../../amounts.ts';

export const DEFAULT_LOCALE = 'en-GB';

type Unit = { decimals: number; code: string };

/**
 * Formats numbers and dates for a locale. Amounts are exact, because they are formatted from decimal strings and never
 * from floating-point numbers.
 */
export type Formats = {
  /** Groups the digits of a decimal string: `1250000.5` becomes `1,250,000.5`. */
  digits(decimal: string): string;
  /** Formats an amount in smallest units, with its token code: `1500000` with 6 decimals becomes `1.5 USDC`. */
  tokenAmount(units: bigint | string, unit: Unit): string;
  /**
   * Like `tokenAmount`, but truncated to six significant digits. Never cuts off the whole part or the first two
   * decimals.
   */
  shortAmount(units: bigint | string, unit: Unit): string;
  /** Formats dollars, always with cents: `1000` becomes `$1,000.00`. */
  usd(decimal: string): string;
  /** Formats basis points: `50` becomes `0.50%`. */
  percent(bps: number): string;
  /** Formats in UTC, so that the server and every browser render the same text. */
  date(iso: string): string;
  dateTime(iso: string): string;
  /** Turns a decimal string into the text that a user would type, without digit groups. */
  toInput(decimal: string): string;
  /** Converts the user's input to a decimal string. If the input is ambiguous, returns a string that fails to parse. */
  fromInput(text: string): string;
};

const DATE = { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' } as const;
const TIME = { hour: '2-digit', minute: '2-digit' } as const;

export function formatsOf(locale: string): Formats {
  const partsOf = (options: Intl.NumberFormatOptions) =>
    new Intl.NumberFormat(locale, { numberingSystem: 'latn', ...options }).formatToParts(12345.5);
  const separator = (type: 'group' | 'decimal', fallback: string) =>
    partsOf({ useGrouping: true }).find((part) => part.type === type)?.value ?? fallback;
  const group = separator('group', ',');
  const point = separator('decimal', '.');
  const digits = (decimal: string) => {
    const [whole = '', fraction] = decimal.split('.');
    const grouped = whole.replace(/\B(?=(\d{3})+$)/g, group);
    return fraction === undefined ? grouped : `${grouped}${point}${fraction}`;
  };
  // The locale puts the symbol before or after the amount: `$1` or `1 $`.
  const [before = '', after = ''] = partsOf({
    ...{ style: 'currency', currency: 'USD', currencyDisplay: 'narrowSymbol' },
  })
    .map(({ type, value }) => (type === 'currency' || type === 'literal' ? value : '\0'))
    .join('')
    .split(/\0+/);
  const date = new Intl.DateTimeFormat(locale, DATE);
  const dateTime = new Intl.DateTimeFormat(locale, { ...DATE, ...TIME });
  return {
    digits,
    tokenAmount: (units, { decimals, code }) => `${digits(formatAmount(units, decimals))} ${code}`,
    shortAmount: (units, { decimals, code }) =>
      `${digits(truncateSignificant(formatAmount(units, decimals)))} ${code}`,
    usd: (decimal) => {
      const [whole = '0', fraction = ''] = decimal.split('.');
      return `${before}${digits(`${whole}.${fraction.replace(/0+$/, '').padEnd(2, '0')}`)}${after}`;
    },
    percent: (bps) => `${digits((bps / 100).toFixed(2))}%`,
    date: (iso) => date.format(new Date(iso)),
    dateTime: (iso) => `${dateTime.format(new Date(iso))} UTC`,
    toInput: (decimal) => decimal.replace('.', point),
    fromInput: (text) => fromInput(text.trim(), point),
  };
}

/**
 * Accepts `1250.5`, `1,250.5` and `1 250.5`. If `point` is a comma, accepts `1250,5`, `1.250,5` and `1 250,5` instead.
 * Refuses groups that start with a zero: someone who types `0,500` in an English locale probably means 0.5, not 500.
 */
function fromInput(text: string, point: string): string {
  const isComma = point === ',';
  const amount = isComma
    ? /^(\d*|[1-9]\d{0,2}([.\s’']\d{3})+)(,\d*)?$/
    : /^(\d*|[1-9]\d{0,2}([,\s’']\d{3})+)(\.\d*)?$/;
  if (!amount.test(text)) return isComma ? text.replaceAll('.', ' ') : text;
  return text.replace(isComma ? /[.\s’']/g : /[,\s’']/g, '').replace(',', '.');
}

const ENGLISH = formatsOf(DEFAULT_LOCALE);

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
  return ENGLISH.digits(decimal);
}

/**
 * Formats dollars exactly, always with cents: `1000` becomes `$1,000.00`, `1.5` becomes `$1.50`.
 *
 * @example
 * ```ts
 * import { formatUsd } from '@causeway/sdk/react';
 *
 * console.log(formatUsd('1000'), formatUsd('1.5'));
 * ```
 */
export function formatUsd(decimal: string): string {
  return ENGLISH.usd(decimal);
}

/** Truncates rather than rounds, so that the result never exceeds the value. */
export function truncateDecimals(decimal: string, digits: number): string {
  const [whole = '0', fraction = ''] = decimal.split('.');
  const truncated = fraction.slice(0, digits).replace(/0+$/, '');
  return truncated === '' ? whole : `${whole}.${truncated}`;
}

/**
 * Truncates the price of one unit. A price of at least 100 keeps two decimals. A price below 0.01 keeps six significant
 * digits. Any other price keeps four decimals.
 */
export function truncatePrice(decimal: string): string {
  const price = Number(decimal);
  return price < 0.01 ? truncateSignificant(decimal) : truncateDecimals(decimal, price < 100 ? 4 : 2);
}

const SIGNIFICANT_DIGITS = 6;

/**
 * Truncates to six significant digits, but never cuts off the whole part or the first two decimals: `1.0954152` becomes
 * `1.09541`, and `1234567.891` becomes `1234567.89`.
 */
export function truncateSignificant(decimal: string): string {
  const [whole = '0', fraction = ''] = decimal.split('.');
  const leading = whole === '0' ? -(/^0*/.exec(fraction)?.[0].length ?? 0) : whole.length;
  return truncateDecimals(decimal, Math.max(2, SIGNIFICANT_DIGITS - leading));
}

/** Turns `harbour-quarter` into `Harbour Quarter`, which is shown until the name is loaded. */
export function slugToTitle(slug: string): string {
  return slug.replaceAll('-', ' ').replace(/\b./g, (letter) => letter.toUpperCase());
}

/**
 * Returns whether the URL is an http or https URL. Operators write the links in offers, so a link may have any scheme.
 */
export function isWebUrl(url: string | null): url is string {
  return url !== null && /^https?:\/\//i.test(url);
}
