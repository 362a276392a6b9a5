import type { OfferOption } from '@causeway/sdk';
import { dollars } from './price-change.tsx';

/** Turns `any-wallet` into "Any wallet". */
function titleOf(slug: string): string {
  const words = slug.replaceAll('-', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export function describeOption(option: OfferOption): { title: string; details: string } {
  const { price_usd, minimum_purchase_usd } = option;
  const details = [
    ...(price_usd == null ? [] : [`${dollars(Number(price_usd))} each`]),
    ...(minimum_purchase_usd == null ? [] : [`from ${dollars(Number(minimum_purchase_usd))}`]),
  ];
  return { title: titleOf(option.slug), details: details.join(', ') };
}
