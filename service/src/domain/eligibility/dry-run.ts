import type { UserCaller } from '../../kernel/access.ts';
import { invalidField } from '../../kernel/errors.ts';
import { normalizeAddress } from '../../platform/chain/address.ts';
import type { Context } from '../../platform/context/context.ts';
import type { Offer } from '../../platform/context/ports.ts';
import { contractOn, findOffer } from '../offers/offer.ts';
import { decide } from './decide.ts';
import { CHECKS, type Purpose } from './purpose.ts';
import type { Eligibility, EligibilityQuery } from './schema.ts';
import { readSituations, type SituationContext, type Target } from './situation.ts';

export async function readEligibility(
  ctx: Context,
  caller: UserCaller,
  idOrSlug: string,
  query: EligibilityQuery,
): Promise<Eligibility> {
  const offer = await findOffer(ctx, caller, idOrSlug);
  if (query.chain !== undefined) contractOn(offer, query.chain);
  return explain(ctx, caller, offer, readTarget(offer, query));
}

export async function explain(
  ctx: SituationContext,
  user: Pick<UserCaller, 'userId' | 'partnerId'>,
  offer: Offer,
  target: Target,
): Promise<Eligibility> {
  const used = CHECKS[purposeOf(offer)];
  const situations = await readSituations(ctx, user, offer, offer.options, target, used);
  const options = situations.map((situation) => {
    const checks = decide(situation)
      .map(({ check }) => check)
      .filter(({ code }) => used.has(code));
    return {
      object: 'option_eligibility' as const,
      offer_option_id: situation.option.id,
      eligible: checks.every(({ status }) => status === 'passed'),
      checks,
    };
  });
  const eligible = options.some((option) => option.eligible);
  return { object: 'eligibility', offer_id: offer.id, eligible, options };
}

export function purposeOf({ type }: Pick<Offer, 'type'>): Purpose {
  return type === 'platform::token_sale' ? 'participate' : 'order';
}

function readTarget({ contracts }: Offer, query: EligibilityQuery): Target {
  const { wallet_address } = query;
  const chain = query.chain ?? null;
  if (wallet_address === undefined) return { chain, wallet: null };
  const chains = chain === null ? contracts.map((contract) => contract.chain) : [chain];
  for (const each of chains) {
    const wallet = normalizeAddress(each, wallet_address);
    if (wallet !== null) return { chain, wallet };
  }
  throw invalidField('wallet_address', 'is not a valid address on a chain of this offer');
}
