import type { OfferOption } from '../../kernel/model/stored-offer.ts';
import type { Db } from '../../platform/db/pool.ts';
import { lockOptionSupply } from '../offers/store.ts';
import { listReserved, lockOption } from './participation-store.ts';

/** In the smallest unit of a funding asset with `digits` decimals. */
export type Reserved = { digits: number; price_usd: string | null; amount: bigint };

type Capped = Pick<OfferOption, 'price_usd' | 'total_token_supply'>;
/** A decimal number: `value / 10 ** scale`. */
type Fraction = { value: bigint; scale: number };

/**
 * How much can still be bought, in the smallest unit of a funding asset with `digits` decimals; null if unlimited.
 * One token counts as one dollar. Amounts reserved at the current price are subtracted without rounding.
 */
export function remainingSupply(
  option: Capped,
  reserved: readonly Reserved[],
  digits: number,
): bigint | null {
  if (!option.total_token_supply || !option.price_usd) return null;
  const [supply, price] = [readDecimal(option.total_token_supply), readDecimal(option.price_usd)];
  const scale = supply.scale + price.scale + Math.max(digits, ...reserved.map((each) => each.digits));
  let left = supply.value * price.value * 10n ** BigInt(scale - supply.scale - price.scale);
  for (const { amount, digits: own, price_usd } of reserved) {
    const usd = amount * 10n ** BigInt(scale - own);
    const paid = readDecimal(price_usd ?? option.price_usd);
    const [numerator, denominator] = [
      price.value * 10n ** BigInt(paid.scale),
      paid.value * 10n ** BigInt(price.scale),
    ];
    // Values the reserved tokens at the current price, even if they were bought at a different price. Rounds up.
    left -= (usd * numerator + denominator - 1n) / denominator;
  }
  return left <= 0n ? 0n : left / 10n ** BigInt(scale - digits);
}

function readDecimal(text: string): Fraction {
  const [whole = '0', fraction = ''] = text.split('.');
  return { value: BigInt(whole + fraction), scale: fraction.length };
}

/** Locks the price, the cap and the supply: call this in the transaction that moves a participation to `pending`. */
export async function lockRemainingSupply(tx: Db, optionId: string, digits: number): Promise<bigint | null> {
  return lockSupply(tx, { id: optionId, ...(await lockOptionSupply(tx, optionId)) }, digits);
}

/** Like `lockRemainingSupply`, for an option that cannot change, because the caller has locked the offer. */
export async function lockSupply(
  tx: Db,
  option: Capped & { id: string },
  digits: number,
): Promise<bigint | null> {
  if (!option.total_token_supply || !option.price_usd) return null;
  await lockOption(tx, option.id);
  return remainingSupply(option, await listReserved(tx, option.id), digits);
}
