import { invalidField } from '../errors.ts';
import type { OfferOption } from '../offers/store.ts';

/** Funding assets are dollars, so the amount is worth what it says. */
export function assertMinimumPurchase(
  { minimum_purchase_usd }: Pick<OfferOption, 'minimum_purchase_usd'>,
  amount: bigint,
  decimals: number,
): void {
  if (minimum_purchase_usd === null || minimum_purchase_usd === undefined) return;
  const [whole = '0', fraction = ''] = minimum_purchase_usd.split('.');
  const least = BigInt(whole + fraction);
  if (amount * 10n ** BigInt(fraction.length) < least * 10n ** BigInt(decimals))
    throw invalidField('amount', `is below the minimum purchase of ${minimum_purchase_usd} USD`);
}
