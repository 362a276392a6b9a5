import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Requirement } from '../../kernel/model/requirement.ts';
import { decide } from './decide.ts';
import { CHECKS, type Purpose, refusalOf } from './purpose.ts';
import type { CheckCode } from './schema.ts';
import type { Situation } from './situation.ts';

const OPEN = Date.parse('2026-03-02T12:00:00Z');
const requirement = (type: string, details: unknown = null) =>
  ({ object: 'requirement', id: `id of ${type}`, type, details }) as Requirement;
const REQUIREMENTS = [
  requirement('identity_verification'),
  requirement('kyc_approved'),
  requirement('accreditation'),
  requirement('external_wallet', { protocol: 'ethereum' }),
  requirement('whitelisted_wallet', { max_wallets: 3 }),
  requirement('document', { document_type: 'tax_certification' }),
  requirement('jurisdiction', { filter_type: 'reject', filters: [{ country_iso_2: 'KP' }] }),
  requirement('acknowledgement', { document: 'risks', version: '2', sha256: 'bb' }),
];

const review = { status: 'completed', answer: 'GREEN', rejectType: null, reviewedAt: OPEN - 1000 } as const;

/** A situation in which every check passes. */
function eligible(): Situation {
  const reviews = {
    Sorting_KYC_Level: review,
    BasicKYCLevel: review,
    AccreditationIndividual_FullVerification: review,
  };
  return {
    now: OPEN,
    offer: { id: 'offer', opens: OPEN - 1, ends: OPEN + 1000 },
    option: { id: 'option', accreditation_days: 90, requirements: REQUIREMENTS },
    user: {
      kind: 'person',
      isActive: true,
      reviews,
      pii: {
        country: 'DE',
        region: 'BE',
        isComplete: true,
        isUnitedStates: false,
        version: 1,
        isStale: false,
      },
      documents: {
        tax_certification: {
          status: 'COMPLETED',
          formType: 'w8_ben',
          expiresAt: OPEN + 1000,
          completedAt: OPEN - 1000,
          piiVersion: 1,
        },
      },
      wallets: { option: ['ethereum'] },
      acknowledgements: { option: [{ document: 'risks', version: '2', sha256: 'bb' }] },
    } as unknown as Situation['user'],
    isHeld: false,
    isSanctioned: false,
    countryPolicy: 'passed',
    wallet: { address: '0xabc', chain: 'ethereum_sepolia', isBound: true },
    proof: 'proven',
    allowList: 'allowed',
    remainingSupply: 5n,
  };
}

type Fault = { code: CheckCode; refused: string; change(situation: Situation): Situation };
const withUser = (situation: Situation, change: object): Situation => ({
  ...situation,
  user: { ...situation.user, ...change },
});
const withoutReview = (level: string) => (situation: Situation) => {
  const reviews = Object.entries(situation.user.reviews).filter(([name]) => name !== level);
  return withUser(situation, { reviews: Object.fromEntries(reviews) });
};

/** One way to make each check fail, and the error code of the resulting refusal. */
const FAULTS: Fault[] = [
  { code: 'account', refused: 'account_restricted', change: (s) => ({ ...s, isHeld: true }) },
  { code: 'sanctions', refused: 'wallet_sanctioned', change: (s) => ({ ...s, isSanctioned: true }) },
  {
    code: 'country_policy',
    refused: 'requirements_not_met',
    change: (s) => ({ ...s, countryPolicy: 'rejected' }),
  },
  {
    code: 'identity_verification',
    refused: 'requirements_not_met',
    change: withoutReview('Sorting_KYC_Level'),
  },
  { code: 'kyc_approved', refused: 'requirements_not_met', change: withoutReview('BasicKYCLevel') },
  {
    code: 'accreditation',
    refused: 'requirements_not_met',
    change: withoutReview('AccreditationIndividual_FullVerification'),
  },
  {
    code: 'document',
    refused: 'requirements_not_met',
    change: (s) => withUser(s, { documents: {} }),
  },
  {
    code: 'jurisdiction',
    refused: 'requirements_not_met',
    change: (s) => withUser(s, { pii: { ...s.user.pii, country: 'KP' } }),
  },
  {
    code: 'acknowledgement',
    refused: 'requirements_not_met',
    change: (s) =>
      withUser(s, { acknowledgements: { option: [{ document: 'risks', version: '1', sha256: 'aa' }] } }),
  },
  {
    code: 'external_wallet',
    refused: 'requirements_not_met',
    change: (s) => withUser(s, { wallets: {} }),
  },
  {
    code: 'whitelisted_wallet',
    refused: 'validation_failed',
    change: (s) => ({ ...s, wallet: { address: '0xdef', chain: 'ethereum_sepolia', isBound: false } }),
  },
  { code: 'wallet_proof', refused: 'wallet_not_proven', change: (s) => ({ ...s, proof: 'not_proven' }) },
  { code: 'offer_window', refused: 'offer_ended', change: (s) => ({ ...s, now: s.offer.ends }) },
  { code: 'supply', refused: 'sold_out', change: (s) => ({ ...s, remainingSupply: 0n }) },
  { code: 'allow_list', refused: 'requirements_not_met', change: (s) => ({ ...s, allowList: 'missing' }) },
];

const RULES = 'country_policy identity_verification kyc_approved accreditation document jurisdiction';
const WALLETS = 'external_wallet whitelisted_wallet';
/**
 * For each purpose, the checks whose failure must lead to a refusal. They are listed here instead of taken from the
 * implementation, so that the test fails if a gate forgets a check.
 */
const MUST_REFUSE: Record<Purpose, string> = {
  bind: 'account sanctions',
  allow_wallet: `account sanctions ${RULES} acknowledgement`,
  admit: `account sanctions ${RULES} acknowledgement wallet_proof`,
  permission: `account sanctions ${RULES} wallet_proof`,
  participate: `account sanctions ${RULES} acknowledgement ${WALLETS} wallet_proof offer_window supply allow_list`,
  commit: `account sanctions ${RULES} ${WALLETS} wallet_proof`,
  order: `account sanctions ${RULES} acknowledgement ${WALLETS} wallet_proof offer_window allow_list`,
};
const PURPOSES = Object.keys(MUST_REFUSE) as Purpose[];

describe('every gate', () => {
  const cells = PURPOSES.flatMap((purpose) => FAULTS.map((fault) => ({ purpose, ...fault })));
  test.each(cells)('$purpose with a failing $code', ({ purpose, code, refused, change }) => {
    const refusal = refusalOf(purpose, decide(change(eligible())));
    if (!MUST_REFUSE[purpose].split(' ').includes(code)) return expect(refusal).toBeNull();
    expect(refusal?.code).toBe(refused);
    expect(refusal?.details.checks).toContainEqual(expect.objectContaining({ code }));
  });

  test.each(PURPOSES)('%s accepts a user without any fault', (purpose) => {
    expect(refusalOf(purpose, decide(eligible()))).toBeNull();
  });

  test('sees every check: each fault makes its own check fail', () => {
    for (const { code, change } of FAULTS)
      expect(decide(change(eligible())).find(({ check }) => check.code === code)?.check.status).not.toBe(
        'passed',
      );
    expect(new Set(FAULTS.map(({ code }) => code))).toEqual(CHECKS.participate);
  });
});

test('dry run and gates agree for any combination of faults', () => {
  fc.assert(
    fc.property(
      fc.subarray(FAULTS),
      fc.constantFrom('participate' as const, 'order' as const),
      (faults, purpose) => {
        const findings = decide(faults.reduce((situation, { change }) => change(situation), eligible()));
        const shown = findings.map(({ check }) => check).filter(({ code }) => CHECKS[purpose].has(code));
        const isEligible = shown.every(({ status }) => status === 'passed');
        const refusal = refusalOf(purpose, findings);
        expect(refusal === null).toBe(isEligible);
        const expected = faults.some(({ code }) => MUST_REFUSE[purpose].split(' ').includes(code));
        expect(isEligible).toBe(!expected);
        expect(refusal?.details.checks ?? []).toEqual(shown.filter(({ status }) => status !== 'passed'));
      },
    ),
    { numRuns: 500 },
  );
});

test('a refusal names the status of every unmet requirement', () => {
  const findings = decide(withUser(eligible(), { reviews: {}, wallets: {} }));
  expect(refusalOf('participate', findings)?.details).toMatchObject({
    'id of identity_verification': ['not_started'],
    'id of kyc_approved': ['not_started'],
    'id of external_wallet': ['not_started'],
  });
});

test('says nothing about why an account is restricted', () => {
  const [account] = decide({ ...eligible(), isHeld: true });
  expect(account?.check).toEqual({
    object: 'check',
    code: 'account',
    requirement_id: null,
    status: 'rejected',
    message: 'Your account is restricted. Contact support.',
    until: null,
    next: { type: 'contact', method: null, path: null, body: null },
  });
});

test('an offer that has not started waits until it opens', () => {
  const situation = eligible();
  const opens = Date.parse('2027-02-01T00:00:00Z');
  const findings = decide({ ...situation, offer: { ...situation.offer, opens, ends: opens + 1 } });
  expect(findings.find(({ check }) => check.code === 'offer_window')?.check).toMatchObject({
    status: 'waiting',
    message: 'The offer opens on 1 February 2027.',
    until: '2027-02-01T00:00:00.000000Z',
  });
  expect(refusalOf('participate', findings)?.code).toBe('offer_not_started');
});

test('a declined form can be posted again, unlike other rejections', () => {
  const declined = decide(
    withUser(eligible(), { documents: { tax_certification: { status: 'DECLINED', expiresAt: OPEN + 1 } } }),
  );
  expect(declined.find(({ check }) => check.code === 'document')?.check).toMatchObject({
    status: 'action_needed',
    next: { type: 'document', method: 'POST', path: '/v1/documents/tax_certification/submission' },
  });
});
