/** Digits of a decimal string in groups of three, which read the same in every country: `1 250 000.5` is `1,250,000.5`. */
export function groupDigits(decimal: string): string {
  const [whole = '', fraction] = decimal.split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

/** `1.25` is `$1.25`, `1000` is `$1,000`, `1.5` is `$1.50`; further digits are kept. */
export function formatUsd(decimal: string): string {
  const [whole = '0', fraction = ''] = decimal.split('.');
  const kept = fraction.replace(/0+$/, '');
  return `$${groupDigits(kept === '' ? whole : `${whole}.${kept.padEnd(2, '0')}`)}`;
}

/** With cents always: `1` is `$1.00`. */
export function formatPrice(decimal: string): string {
  const usd = formatUsd(decimal);
  return usd.includes('.') ? usd : `${usd}.00`;
}

/** Cut, not rounded up: never more than it is. */
export function cutDecimals(decimal: string, digits: number): string {
  const [whole = '0', fraction = ''] = decimal.split('.');
  const kept = fraction.slice(0, digits).replace(/0+$/, '');
  return kept === '' ? whole : `${whole}.${kept}`;
}

/** `harbour-quarter` is `Harbour Quarter`, until the name is known. */
export function titleOfSlug(slug: string): string {
  return slug
    .split('-')
    .map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`)
    .join(' ');
}

const DATE = new Intl.DateTimeFormat('en-GB', {
  ...{ day: 'numeric', month: 'short', year: 'numeric' },
  timeZone: 'UTC',
});
const MOMENT = new Intl.DateTimeFormat('en-GB', {
  ...{ day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit' },
  timeZone: 'UTC',
});

/** In UTC, so that the server and every browser write the same. */
export function formatDate(iso: string): string {
  return DATE.format(new Date(iso));
}

export function formatMoment(iso: string): string {
  return `${MOMENT.format(new Date(iso))} UTC`;
}

/** Links of offers are written by operators; anything but a web address is left out. */
export function isWebAddress(url: string | null): url is string {
  return url !== null && /^https?:\/\//i.test(url);
}
