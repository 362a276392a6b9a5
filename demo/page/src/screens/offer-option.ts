import type { OfferOption } from '@causeway/sdk';

/** `any-wallet` is "Any wallet". */
function titleOf(slug: string): string {
  const words = slug.replaceAll('-', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export function describeOption(option: OfferOption): { title: string; details: string } {
  const { price_usd, minimum_purchase_usd } = option;
  const details = [
    ...(price_usd == null ? [] : [`${dollars(price_usd)} each`]),
    ...(minimum_purchase_usd == null ? [] : [`from ${dollars(minimum_purchase_usd)}`]),
  ];
  return { title: titleOf(option.slug), details: details.join(', ') };
}

/** A price as the operator wrote it, with commas: `$1,000`, `$1.25`. */
function dollars(amount: string): string {
  const [whole = '', fraction = ''] = amount.split('.');
  const cents = fraction === '' || /^0+$/.test(fraction) ? '' : `.${fraction.padEnd(2, '0')}`;
  return `$${whole.replace(/\B(?=(\d{3})+$)/g, ',')}${cents}`;
}
