import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Requirement } from '../../kernel/model/requirement.ts';
import { SUBMISSION_STATUSES, type SubmissionStatus } from '../../platform/providers/documents.ts';
import type { DocumentFacts, ReviewFacts, UserFacts } from './facts.ts';
import { checkJurisdiction, countryPolicy } from './residence.ts';
import { requirementStatus } from './status.ts';

const NOW = Date.parse('2026-06-15T12:00:00Z');
const DAY_MS = 86_400_000;
const OPTION = { id: 'option', accreditation_days: 90 };

const NEW_USER: UserFacts = {
  kind: 'person',
  isActive: true,
  isBeingRead: false,
  reviews: {},
  pii: null,
  documents: {},
  wallets: {},
  acknowledgements: {},
};

const PII_FACTS = {
  country: 'DE',
  region: null,
  isComplete: true,
  isUnitedStates: false,
  version: 1,
  isStale: false,
  person: 'ada',
  personKey: '',
};

/** Formats a status as in the tables below. */
function format(status: ReturnType<typeof requirementStatus>): string {
  if (typeof status === 'string') return status;
  const { action, kyc_level, kyc_reset } = status;
  const reset = kyc_level === undefined ? undefined : kyc_reset ? 'reset' : 'no reset';
  return [status.status, action, reset].filter((part) => part !== undefined).join(' ');
}

const requirement = (type: string, details: object | null = null) =>
  ({ object: 'requirement', id: 'r', type, details }) as Requirement;

/** Parses a text table. The first line contains the column names. Every later line starts with its row name. */
function readTable(text: string): [row: string, column: string, expected: string][] {
  const [head = [], ...lines] = text
    .trim()
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()));
  return lines.flatMap(([row = '', ...cells]) =>
    cells.map((cell, index): [string, string, string] => [row, head[index + 1] ?? '', cell]),
  );
}

describe('identity statuses', () => {
  const REVIEWS: Record<string, Omit<ReviewFacts, 'reviewedAt'> | undefined> = {
    none: undefined,
    ...Object.fromEntries(
      (['init', 'pending', 'prechecked', 'queued', 'awaitingService', 'onHold', 'awaitingUser'] as const).map(
        (status) => [status, { status, answer: null, rejectType: null, person: null }],
      ),
    ),
    'RED retry': { status: 'completed', answer: 'RED', rejectType: 'RETRY', person: null },
    'RED final': { status: 'completed', answer: 'RED', rejectType: 'FINAL', person: null },
    GREEN: { status: 'completed', answer: 'GREEN', rejectType: null, person: 'ada' },
    'GREEN of another person': { status: 'completed', answer: 'GREEN', rejectType: null, person: 'eve' },
    'GREEN of an unknown person': { status: 'completed', answer: 'GREEN', rejectType: null, person: '' },
  };
  const PII: Record<string, UserFacts['pii']> = {
    whole: PII_FACTS,
    missing: null,
    partial: { ...PII_FACTS, isComplete: false },
    stale: { ...PII_FACTS, isStale: true },
  };
  const AGES = { fresh: 90 * DAY_MS - 1, limit: 90 * DAY_MS, old: 1000 * DAY_MS };
  const LEVELS = {
    identity_verification: 'Sorting_KYC_Level',
    kyc_approved: 'BasicKYCLevel',
    accreditation: 'AccreditationIndividual_FullVerification',
  } as const;

  const ANY_AGE = `
    review          | whole         | missing                             | partial                             | stale
    none            | not_started no reset | not_started no reset         | not_started no reset                | not_started no reset
    init            | not_started no reset | not_started no reset         | not_started no reset                | not_started no reset
    pending         | in_progress   | in_progress                         | in_progress                         | in_progress
    prechecked      | in_progress   | in_progress                         | in_progress                         | in_progress
    queued          | in_progress   | in_progress                         | in_progress                         | in_progress
    awaitingService | in_progress   | in_progress                         | in_progress                         | in_progress
    onHold          | in_progress   | in_progress                         | in_progress                         | in_progress
    awaitingUser    | action_needed kyc_not_verified no reset | action_needed kyc_not_verified no reset | action_needed kyc_not_verified no reset | action_needed kyc_not_verified no reset
    RED retry       | action_needed kyc_not_verified no reset | action_needed kyc_not_verified no reset | action_needed kyc_not_verified no reset | action_needed kyc_not_verified no reset
    RED final       | rejected      | rejected                            | rejected                            | rejected
    GREEN           | completed     | action_needed update_pii_data reset | action_needed update_pii_data reset | action_needed update_pii_data reset
    GREEN of another person | action_needed kyc_not_verified reset | action_needed update_pii_data reset | action_needed update_pii_data reset | action_needed update_pii_data reset
    GREEN of an unknown person | action_needed update_pii_data reset | action_needed update_pii_data reset | action_needed update_pii_data reset | action_needed update_pii_data reset`;

  const rows = readTable(ANY_AGE);

  test('the table covers every review and personal data state', () => {
    expect(new Set(rows.map(([row]) => row))).toEqual(new Set(Object.keys(REVIEWS)));
    expect(new Set(rows.map(([, column]) => column))).toEqual(new Set(Object.keys(PII)));
  });

  test.each(rows)('%s with %s data: %s', (review, pii, expected) => {
    for (const [type, level] of Object.entries(LEVELS))
      for (const [age, ms] of Object.entries(AGES))
        for (const isActive of [true, false]) {
          const found = REVIEWS[review];
          const facts: UserFacts = {
            ...NEW_USER,
            isActive,
            pii: PII[pii] ?? null,
            reviews:
              found === undefined
                ? {}
                : { [level]: { ...found, reviewedAt: found.answer === null ? null : NOW - ms } },
          };
          const isTooOld = type === 'accreditation' && age !== 'fresh' && expected === 'completed';
          const active = isTooOld ? 'action_needed kyc_not_verified reset' : expected;
          const status = requirementStatus(requirement(type), OPTION, facts, NOW);
          expect(format(status)).toBe(isActive ? active : 'rejected');
          if (typeof status !== 'string') expect(status.kyc_level).toBe(level);
        }
  });

  test('an approval is in progress while the approved person is being read', () => {
    const green = { ...REVIEWS['GREEN of an unknown person'], reviewedAt: NOW } as ReviewFacts;
    const facts = { ...NEW_USER, pii: PII_FACTS, isBeingRead: true, reviews: { BasicKYCLevel: green } };
    expect(requirementStatus(requirement('kyc_approved'), OPTION, facts, NOW)).toBe('in_progress');
  });

  test('levels are independent of each other', () => {
    const green = {
      status: 'completed',
      answer: 'GREEN',
      rejectType: null,
      reviewedAt: NOW,
      person: 'ada',
    } as const;
    const facts = { ...NEW_USER, pii: PII_FACTS, reviews: { BasicKYCLevel: green } };
    expect(requirementStatus(requirement('identity_verification'), OPTION, facts, NOW)).toEqual({
      status: 'not_started',
      kyc_level: 'Sorting_KYC_Level',
      kyc_reset: false,
    });
    expect(requirementStatus(requirement('kyc_approved'), OPTION, facts, NOW)).toBe('completed');
  });

  test('a final rejection on any level, or a deactivated applicant, rejects every kind', () => {
    const accepted = requirement('jurisdiction', {
      filter_type: 'allow',
      filters: [{ country_iso_2: 'DE' }],
    });
    const kinds = [...Object.keys(LEVELS).map((type) => requirement(type)), accepted];
    const green = {
      status: 'completed',
      answer: 'GREEN',
      rejectType: null,
      reviewedAt: NOW,
      person: 'ada',
    } as const;
    const final = { ...green, answer: 'RED', rejectType: 'FINAL', person: null } as const;
    const levels = Object.values(LEVELS);
    const approved: UserFacts = {
      ...NEW_USER,
      pii: PII_FACTS,
      reviews: Object.fromEntries(levels.map((level) => [level, green])),
    };
    const statuses = (facts: UserFacts) => kinds.map((kind) => requirementStatus(kind, OPTION, facts, NOW));
    expect(statuses(approved)).toEqual(kinds.map(() => 'completed'));
    const rejected = kinds.map(() => 'rejected');
    expect(statuses({ ...approved, isActive: false })).toEqual(rejected);
    for (const level of levels) {
      expect(statuses({ ...approved, reviews: { ...approved.reviews, [level]: final } })).toEqual(rejected);
      expect(statuses({ ...NEW_USER, reviews: { [level]: final } })).toEqual(rejected);
    }
  });
});

describe('document statuses', () => {
  const tax = requirement('document', { document_type: 'tax_certification' });
  const TABLE = `
    form        | link valid    | link expired
    none        | not_started   | not_started
    INITIALIZED | in_progress   | not_started
    SENT        | in_progress   | not_started
    VIEWED      | in_progress   | not_started
    EXPIRED     | not_started   | not_started
    DECLINED    | rejected      | rejected`;
  const form = (status: SubmissionStatus, more: Partial<DocumentFacts> = {}): DocumentFacts => ({
    status,
    formType: 'w8_ben',
    expiresAt: NOW + 1,
    completedAt: null,
    piiVersion: 1,
    ...more,
  });

  test('the tables cover every status', () => {
    expect([...new Set(readTable(TABLE).map(([row]) => row)), 'COMPLETED'].sort()).toEqual(
      ['none', ...SUBMISSION_STATUSES].sort(),
    );
  });

  test.each(readTable(TABLE))('%s, %s: %s', (status, link, expected) => {
    const expiresAt = link === 'link valid' ? NOW + 1 : NOW;
    const documents =
      status === 'none' ? {} : { tax_certification: form(status as SubmissionStatus, { expiresAt }) };
    expect(format(requirementStatus(tax, OPTION, { ...NEW_USER, documents }, NOW))).toBe(expected);
  });

  /** The statuses of a form that was signed on 2026-06-15 and is valid until the end of 2029. */
  const SIGNED = `
    personal data            | 2026-06-15T12:00:00Z | 2029-12-31T23:59:59.999Z | 2030-01-01T00:00:00Z
    unchanged                | completed            | completed                | action_needed
    changed                  | action_needed        | action_needed            | action_needed
    none at all              | completed            | completed                | action_needed
    none when signed         | action_needed        | action_needed            | action_needed
    none any more            | action_needed        | action_needed            | action_needed
    United States            | rejected             | rejected                 | rejected
    a company now            | action_needed        | action_needed            | action_needed`;

  test.each(readTable(SIGNED))('signed, personal data %s, %s: %s', (record, time, expected) => {
    const pii = {
      ...PII_FACTS,
      isUnitedStates: record === 'United States',
      version: record === 'changed' ? 2 : 1,
    };
    const piiVersion = record === 'none when signed' || record === 'none at all' ? 0 : 1;
    const facts: UserFacts = {
      ...NEW_USER,
      kind: record === 'a company now' ? 'company' : 'person',
      pii: record === 'none any more' || record === 'none at all' ? null : pii,
      documents: { tax_certification: form('COMPLETED', { completedAt: NOW, piiVersion, expiresAt: NOW }) },
    };
    expect(format(requirementStatus(tax, OPTION, facts, Date.parse(time)))).toBe(expected);
  });
});

test('a known US person cannot complete a document, with or without a form', () => {
  const tax = requirement('document', { document_type: 'tax_certification' });
  const pii = { ...PII_FACTS, isUnitedStates: true };
  const form = { formType: 'w8_ben', expiresAt: NOW + 1, piiVersion: 1, completedAt: null } as const;
  expect(requirementStatus(tax, OPTION, { ...NEW_USER, pii }, NOW)).toBe('rejected');
  for (const status of SUBMISSION_STATUSES) {
    const facts = { ...NEW_USER, pii, documents: { tax_certification: { ...form, status } } };
    expect(requirementStatus(tax, OPTION, facts, NOW)).toBe('rejected');
  }
});

test.each([
  ['external_wallet', { protocol: 'ethereum' }, [], 'not_started'],
  ['external_wallet', { protocol: 'ethereum' }, ['solana'], 'not_started'],
  ['external_wallet', { protocol: 'ethereum' }, ['solana', 'ethereum'], 'completed'],
  ['external_wallet', { protocol: 'solana' }, ['solana'], 'completed'],
  ['whitelisted_wallet', { max_wallets: 3 }, [], 'not_started'],
  ['whitelisted_wallet', { max_wallets: 3 }, ['solana'], 'completed'],
] as const)('%s %j with %j bound: %s', (type, details, bound, expected) => {
  const facts = { ...NEW_USER, wallets: { option: bound } };
  expect(requirementStatus(requirement(type, details), OPTION, facts, NOW)).toBe(expected);
  const otherOption = { ...NEW_USER, wallets: { another: bound } };
  expect(requirementStatus(requirement(type, details), OPTION, otherOption, NOW)).toBe('not_started');
});

test('a requirement type of a newer release is never completed', () => {
  expect(requirementStatus(requirement('questionnaire'), OPTION, NEW_USER, NOW)).toBe('action_needed');
});

describe('jurisdiction filters', () => {
  const TABLE = `
    address     | allow US          | reject US         | allow US:NY       | reject US:NY      | reject UA:43
    none        | unknown           | unknown           | unknown           | unknown           | unknown
    US          | passes            | fails             | unknown           | unknown           | passes
    US New York | passes            | fails             | passes            | fails             | passes
    US US-NY    | passes            | fails             | passes            | fails             | passes
    US ny       | passes            | fails             | passes            | fails             | passes
    US Texas    | passes            | fails             | fails             | passes            | passes
    DE Bayern   | fails             | passes            | fails             | passes            | passes
    UA          | fails             | passes            | fails             | passes            | unknown
    UA Crimea   | fails             | passes            | fails             | passes            | fails
    UA Kyiv     | fails             | passes            | fails             | passes            | passes
    US N.Y.     | passes            | fails             | passes            | fails             | passes
    US State of New York | passes   | fails             | passes            | fails             | passes
    US Atlantis | passes            | fails             | unknown           | unknown           | passes
    UA Krym     | fails             | passes            | fails             | passes            | fails
    UA Donetsk region | fails       | passes            | fails             | passes            | passes
    UA Atlantis | fails             | passes            | fails             | passes            | unknown
    PR          | passes            | fails             | fails             | passes            | passes
    US PR       | passes            | fails             | fails             | passes            | passes`;

  test.each(readTable(TABLE))('%s against %s: %s', (address, filter, expected) => {
    const [filter_type = '', place = ''] = filter.split(' ');
    const [country_iso_2 = '', region] = place.split(':');
    const details = {
      filter_type: filter_type as 'allow' | 'reject',
      filters: [{ country_iso_2, ...(region !== undefined && { regions: [region] }) }],
    };
    const [country = '', ...words] = address.split(' ');
    const at = words.length === 0 ? null : words.join(' ');
    expect(checkJurisdiction(details, country === 'none' ? null : country, at)).toBe(expected);
  });

  test('the result maps to a status', () => {
    const germany = requirement('jurisdiction', { filter_type: 'allow', filters: [{ country_iso_2: 'DE' }] });
    expect(requirementStatus(germany, OPTION, { ...NEW_USER, pii: PII_FACTS }, NOW)).toBe('completed');
    const moved = { ...NEW_USER, pii: { ...PII_FACTS, country: 'FR' } };
    expect(requirementStatus(germany, OPTION, moved, NOW)).toBe('rejected');
    expect(
      requirementStatus(germany, OPTION, { ...NEW_USER, pii: { ...PII_FACTS, isStale: true } }, NOW),
    ).toEqual({
      status: 'action_needed',
      action: 'update_pii_data',
      kyc_level: 'Sorting_KYC_Level',
      kyc_reset: true,
    });
    expect(requirementStatus(germany, OPTION, NEW_USER, NOW)).toEqual({
      status: 'action_needed',
      action: 'kyc_not_verified',
      kyc_level: 'Sorting_KYC_Level',
      kyc_reset: false,
    });
  });

  test('blocked countries apply to every offer', () => {
    const policy = {
      blockedCountries: [
        { country_iso_2: 'KP' },
        { country_iso_2: 'UA', regions: ['43', '40'] },
        { country_iso_2: 'UA', regions: ['14'] },
      ],
    };
    const check = (country: string | null, region: string | null = null) =>
      countryPolicy({ pii: { ...PII_FACTS, country, region } }, policy);
    expect(countryPolicy(NEW_USER, policy)).toBe('passed');
    expect([check(null), check('DE'), check('UA', 'Lviv')]).toEqual(['passed', 'passed', 'passed']);
    expect([check('KP'), check('UA', 'Krym'), check('UA', 'Donetsk region')]).toEqual(
      Array(3).fill('rejected'),
    );
    expect([check('UA'), check('UA', 'Atlantis')]).toEqual(['action_needed', 'action_needed']);
    expect(check('RU', 'Republic of Crimea')).toBe('rejected');
  });

  test('allow and reject of the same list are opposites, unless both are unknown', () => {
    const country = fc.constantFrom('US', 'UA', 'CA', 'DE', 'FR');
    const region = fc.constantFrom('NY', 'New York', '43', 'Crimea', 'ON', 'Bayern');
    const filters = fc.array(
      fc.record(
        { country_iso_2: country, regions: fc.array(region, { minLength: 1 }) },
        { requiredKeys: ['country_iso_2'] },
      ),
      { minLength: 1 },
    );
    fc.assert(
      fc.property(filters, fc.option(country), fc.option(region), (list, at, part) => {
        const results = (['allow', 'reject'] as const).map((filter_type) =>
          checkJurisdiction({ filter_type, filters: list }, at, part),
        );
        expect([
          ['passes', 'fails'].join(),
          ['fails', 'passes'].join(),
          ['unknown', 'unknown'].join(),
        ]).toContain(results.join());
      }),
    );
  });
});
