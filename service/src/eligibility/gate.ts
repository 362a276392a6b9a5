import type { ChainName } from '../chain/chains.ts';
import type { Context } from '../context.ts';
import type { UserCaller } from '../http/access.ts';
import type { Offer } from '../offers/catalogue.ts';
import type { OfferOption } from '../offers/stored-offer.ts';
import { decide } from './decide.ts';
import { CHECKS, type Purpose } from './purpose.ts';
import { readSituations } from './read-situations.ts';
import { refusalOf } from './refusal.ts';
import type { Finding } from './requirement-check.ts';

export type GateInput = {
  offer: Offer;
  options: readonly OfferOption[];
  wallet: string;
  chain: ChainName;
};

/** Decides about every option for a gate, without refusing. */
export async function decideFor(
  ctx: Context,
  user: Pick<UserCaller, 'userId' | 'partnerId'>,
  purpose: Purpose,
  { offer, options, wallet, chain }: GateInput,
): Promise<Finding[]> {
  const situations = await readSituations(ctx, user, offer, options, { wallet, chain }, CHECKS[purpose]);
  return situations.flatMap(decide);
}

/** Throws the error of the first check that has not passed, with all of them in `errors.checks`. */
export async function assertEligible(
  ctx: Context,
  user: Pick<UserCaller, 'userId' | 'partnerId'>,
  purpose: Purpose,
  input: GateInput,
): Promise<void> {
  const refusal = refusalOf(purpose, await decideFor(ctx, user, purpose, input));
  if (refusal !== null) throw refusal;
}
