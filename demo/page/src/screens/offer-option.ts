import type { OfferOption } from '@causeway/sdk';
import { dollars } from './price-change.tsx';

/** Turns `any-wallet` into "Any Wallet", as the SDK's checkout does. */
function titleOf(slug: string): string {
  return slug
    .split('-')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join(' ');
}

export function describeOption(option: OfferOption): { title: string; details: string } {
  const { price_usd, minimum_purchase_usd } = option;
  const details = [
    ...(price_usd == null ? [] : [`${dollars(Number(price_usd))} each`]),
    ...(minimum_purchase_usd == null ? [] : [`from ${dollars(Number(minimum_purchase_usd))}`]),
  ];
  return { title: titleOf(option.slug), details: details.join(', ') };
}
