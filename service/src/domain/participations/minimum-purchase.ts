import { invalidField } from '../../kernel/errors.ts';
import type { OfferOption } from '../../kernel/model/stored-offer.ts';

/**
 * Throws `validation_failed` if the amount is below the option's minimum in dollars. One token of a funding asset
 * counts as one dollar.
 */
export function assertMinimumPurchase(
  { minimum_purchase_usd }: Pick<OfferOption, 'minimum_purchase_usd'>,
  amount: bigint,
  decimals: number,
): void {
  if (minimum_purchase_usd === null || minimum_purchase_usd === undefined) return;
  const [whole = '0', fraction = ''] = minimum_purchase_usd.split('.');
  const minimum = BigInt(whole + fraction);
  // Scales both values to the same number of decimals. Rounding the minimum to the token's decimals would change the
  // minimum.
  if (amount * 10n ** BigInt(fraction.length) < minimum * 10n ** BigInt(decimals))
    throw invalidField('amount', `is below the minimum purchase of ${minimum_purchase_usd} USD`);
}
