import type { Clock } from '../../kernel/clock.ts';
import { ApiError } from '../../kernel/errors.ts';
import type { OfferOption } from '../../kernel/model/stored-offer.ts';
import { toTimestamp } from '../../kernel/wire.ts';
import { offerState } from '../offers/offer.ts';
import type { UserFacts } from '../requirements/facts.ts';
import { type CountryPolicy, countryPolicy } from '../requirements/residence.ts';
import { HELD } from '../users/account.ts';
import { CONTACT, decideRequirement, type Finding, walletBody } from './requirement-check.ts';
import type { Check, CheckCode } from './schema.ts';
import type { Situation } from './situation.ts';

/** The results of passed checks. Created once and reused, because most checks pass. */
const PASSED = {
  account: checkOf('account', 'passed', 'Your account is in good standing.'),
  sanctions: checkOf('sanctions', 'passed', 'Your wallet can be used.'),
  country_policy: checkOf('country_policy', 'passed', 'We serve your country.'),
  offer_window: checkOf('offer_window', 'passed', 'The offer is open.'),
  wallet_proof: checkOf('wallet_proof', 'passed', 'You have proven that you own the wallet.'),
  supply: checkOf('supply', 'passed', 'This option is not sold out.'),
  allow_list: checkOf('allow_list', 'passed', 'Your wallet is on the allow-list.'),
} as const;

/**
 * Evaluates every check for one option, using only the facts in `situation`. The dry run and all gates call this pure
 * function, and differ only in which of the results they use (`purpose.ts`).
 */
export function decide(situation: Situation): Finding[] {
  const findings: Finding[] = [
    { check: decideAccount(situation) },
    { check: decideSanctions(situation) },
    { check: decideCountry(situation) },
  ];
  for (const requirement of situation.option.requirements)
    findings.push(decideRequirement(requirement, situation));
  findings.push(
    { check: decideWindow(situation) },
    { check: decideProof(situation) },
    decideSupply(situation),
  );
  if (situation.allowList !== 'none') findings.push({ check: decideAllowList(situation) });
  return findings;
}

function checkOf(code: CheckCode, status: Check['status'], message: string): Check {
  return { object: 'check', code, requirement_id: null, status, message, until: null, next: null };
}

function decideAccount({ isHeld }: Situation): Check {
  return isHeld ? HELD : PASSED.account;
}

function decideSanctions({ isSanctioned }: Situation): Check {
  if (!isSanctioned) return PASSED.sanctions;
  return { ...checkOf('sanctions', 'rejected', 'This wallet cannot be used.'), next: CONTACT };
}

function decideCountry({ countryPolicy }: Situation): Check {
  if (countryPolicy === 'passed') return PASSED.country_policy;
  if (countryPolicy === 'rejected')
    return { ...checkOf('country_policy', 'rejected', 'We do not serve your country.'), next: CONTACT };
  if (countryPolicy === 'waiting')
    return checkOf('country_policy', 'waiting', 'Your change of address is being reviewed.');
  const body = { level_name: 'Sorting_KYC_Level', reset: true };
  return {
    ...checkOf('country_policy', 'action_needed', 'Fix the region in your address.'),
    next: { type: 'identity', method: 'POST', path: '/v1/kyc-token', body },
  };
}

function decideWindow({
  offer,
  now,
}: Pick<Situation, 'now'> & { offer: Pick<Situation['offer'], 'opens' | 'ends'> }): Check {
  switch (offerState(offer, now)) {
    case 'open':
      return PASSED.offer_window;
    case 'ended':
      return checkOf('offer_window', 'rejected', 'The offer has ended.');
    case 'upcoming': {
      const until = toTimestamp(offer.opens * 1000);
      return { ...checkOf('offer_window', 'waiting', `The offer opens on ${dayOf(offer.opens)}.`), until };
    }
  }
}

function dayOf(time: number): string {
  return new Date(time).toLocaleDateString('en-GB', { dateStyle: 'long', timeZone: 'UTC' });
}

function decideProof({ proof, wallet }: Situation): Check {
  if (proof === 'proven') return PASSED.wallet_proof;
  if (proof === 'unreachable') return unreachable('wallet_proof');
  return {
    ...checkOf(
      'wallet_proof',
      'action_needed',
      'Connect a wallet and sign a message to prove that it is yours.',
    ),
    next: { type: 'wallet_proof', method: 'POST', path: '/v1/wallet-ownership', body: walletBody(wallet) },
  };
}

function decideSupply({ remainingSupply: remaining }: Situation): Finding {
  if (remaining === null) return { check: PASSED.supply };
  const check = remaining > 0n ? PASSED.supply : checkOf('supply', 'rejected', 'This option is sold out.');
  return { check, remaining };
}

function decideAllowList({ allowList, offer, wallet }: Situation): Check {
  if (allowList === 'allowed') return PASSED.allow_list;
  if (allowList === 'unreachable') return unreachable('allow_list');
  if (allowList === 'issuer')
    return {
      ...checkOf('allow_list', 'waiting', 'The issuer decides which wallets may hold this asset.'),
      next: CONTACT,
    };
  return {
    ...checkOf('allow_list', 'action_needed', 'Add your wallet to the allow-list of this offer.'),
    next: {
      type: 'allow_wallet',
      method: 'POST',
      path: `/v1/offers/${offer.id}/allow-wallet`,
      body: walletBody(wallet),
    },
  };
}

function unreachable(code: CheckCode): Check {
  return checkOf(code, 'waiting', 'The blockchain cannot be reached right now. Try again in a moment.');
}

export type Rules = Pick<OfferOption, 'id' | 'accreditation_days' | 'requirements'>;

type Standing = { facts: UserFacts; isHeld: boolean; isSanctioned: boolean; isProven: boolean };

/** Assumes that the offer is open, has enough supply and has no allow-list. */
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

type Window = Pick<Situation['offer'], 'opens' | 'ends'>;

export function assertOpen(offer: Window, clock: Clock): void {
  const check = decideWindow({ offer, now: clock.now() });
  if (check.status !== 'passed') throw refusal(check);
}

/** Accepts an offer that has not started, because users can take some steps in advance, such as binding a wallet. */
export function assertNotEnded(offer: Window, clock: Clock): void {
  const check = decideWindow({ offer, now: clock.now() });
  if (check.status === 'rejected') throw refusal(check);
}

function refusal(check: Check): ApiError {
  return new ApiError(check.status === 'waiting' ? 'offer_not_started' : 'offer_ended', { checks: [check] });
}
