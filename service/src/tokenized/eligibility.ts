import type { Hex } from 'viem';
import type { Context } from '../context.ts';
import { assertEligible } from '../eligibility/gate.ts';
import { ApiError } from '../errors.ts';
import type { UserCaller } from '../http/access.ts';
import type { Offer } from '../offers/catalogue.ts';
import type { EvmContract } from '../offers/stored-offer.ts';

/** Throws unless this user may trade the offer with this wallet. */
export async function assertMayTrade(
  ctx: Context,
  caller: UserCaller,
  offer: Offer,
  { chain }: EvmContract,
  wallet: Hex,
): Promise<void> {
  const option = offer.options[0];
  if (option === undefined) throw new ApiError('not_found');
  await assertEligible(ctx, caller, 'order', { offer, options: [option], wallet, chain });
}
