import type { OfferOption } from '../../kernel/model/stored-offer.ts';
import { type CountryPolicy, countryPolicy } from '../requirements/country-policy.ts';
import type { UserFacts } from '../requirements/status.ts';
import { decide } from './decide.ts';
import type { Finding } from './requirement-check.ts';

/** The rules of an option that decide which users are eligible. */
export type Rules = Pick<OfferOption, 'id' | 'accreditation_days' | 'requirements'>;

type Standing = { facts: UserFacts; isHeld: boolean; isSanctioned: boolean; isProven: boolean };

/**
 * Evaluates the checks of a user and of a wallet without reading a chain. Assumes that the offer is open, has enough
 * supply and has no allow-list.
 */
export function decideRules(
  offerId: string,
  option: Rules,
  { facts, isHeld, isSanctioned, isProven }: Standing,
  policy: CountryPolicy,
  now: number,
): Finding[] {
  return decide({
    now,
    option,
    user: facts,
    isHeld,
    isSanctioned,
    wallet: null,
    remainingSupply: null,
    offer: { id: offerId, opens: -Infinity, ends: Infinity },
    countryPolicy: countryPolicy(facts, policy),
    proof: isProven ? 'proven' : 'not_proven',
    allowList: 'none',
  });
}
