import type { Hex } from 'viem';
import type { UserCaller } from '../../kernel/access.ts';
import { ApiError } from '../../kernel/errors.ts';
import type { EvmContract, OfferOption } from '../../kernel/model/stored-offer.ts';
import type { Context } from '../../platform/context/context.ts';
import type { Offer } from '../../platform/context/ports.ts';
import type { Db } from '../../platform/db/pool.ts';
import { assertEligible, lockEligible } from '../eligibility/gate.ts';
import { lockOpenOffer } from '../offers/offer.ts';

/**
 * Throws unless this user may trade the offer with this wallet. Returns whether `lockMayTrade` repeats all of the
 * checks.
 */
export async function assertMayTrade(
  ctx: Context,
  caller: UserCaller,
  offer: Offer,
  { chain }: EvmContract,
  wallet: Hex,
): Promise<boolean> {
  return assertEligible(ctx, caller, 'order', { offer, options: [optionOf(offer)], wallet, chain });
}

/**
 * Like `assertMayTrade`, but runs in the database transaction that issues the calldata, and does not read the chain.
 * Locks the offer, and throws if it has been closed since the request arrived.
 */
export async function lockMayTrade(
  ctx: Context,
  tx: Db,
  caller: UserCaller,
  offer: Offer,
  wallet: Hex,
): Promise<void> {
  const gate = { offer, options: [optionOf(offer)], wallet };
  await lockEligible(ctx, tx, caller, 'order', gate, () =>
    lockOpenOffer(tx, offer.id, caller.partnerId, ctx.clock),
  );
}

function optionOf({ options: [option] }: Offer): OfferOption {
  if (option === undefined) throw new ApiError('not_found');
  return option;
}
