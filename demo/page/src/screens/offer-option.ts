import type { OfferOption } from '@causeway/sdk';
import { formatUsd } from '@causeway/sdk/react';

/** Turns `any-wallet` into "Any wallet". */
function titleOf(slug: string): string {
  const words = slug.replaceAll('-', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export function describeOption(option: OfferOption): { title: string; details: string } {
  const { price_usd, minimum_purchase_usd } = option;
  const details = [
    ...(price_usd == null ? [] : [`${formatUsd(price_usd)} each`]),
    ...(minimum_purchase_usd == null ? [] : [`from ${formatUsd(minimum_purchase_usd)}`]),
  ];
  return { title: titleOf(option.slug), details: details.join(', ') };
}
