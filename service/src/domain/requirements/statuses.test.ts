import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { countStatements } from '../../../test/support/count-statements.ts';
import { makeOffer, saleFile } from '../../../test/support/offers.ts';
import { startWorld, type World } from '../../../test/support/providers.ts';
import { RequirementStatuses } from '../../kernel/model/requirement.ts';
import { isValid } from '../../kernel/validation.ts';
import { decideFor } from '../eligibility/gate.ts';
import { refusalOf } from '../eligibility/purpose.ts';
import { settleApplicant } from '../identity/reconcile.ts';
import type { OfferFile } from '../offer-files/file-schema.ts';

let world: World;
let offer: Awaited<ReturnType<typeof makeOffer>>;
beforeAll(async () => {
  world = await startWorld();
  const [option] = saleFile().options;
  const all = [
    { type: 'identity_verification', details: null },
    { type: 'kyc_approved', details: null },
    { type: 'accreditation', details: null },
    { type: 'external_wallet', details: { protocol: 'ethereum' } },
    { type: 'whitelisted_wallet', details: { max_wallets: 3 } },
    { type: 'document', details: { document_type: 'tax_certification' } },
    { type: 'jurisdiction', details: { filter_type: 'reject', filters: [{ country_iso_2: 'US' }] } },
  ];
  const options = [
    { ...option, slug: 'all', requirements: all },
    { ...option, slug: 'none', requirements: [] },
    {
      ...option,
      slug: 'strict',
      accreditation_days: 1,
      requirements: [{ type: 'accreditation', details: null }],
    },
  ] as OfferFile['options'];
  offer = await makeOffer(world.ctx, saleFile({ options }));
});
afterAll(() => world.close());

const newUser = () => world.newUser();
const get = (token: string, id = offer.id) =>
  world.app.inject({
    url: `/v1/offers/${id}/requirements/statuses`,
    headers: { authorization: `Bearer ${token}` },
  });
/** Returns the statuses keyed by option and type. */
const statuses = async (token: string) => {
  const reply = (await get(token)).json();
  expect(isValid(RequirementStatuses, reply)).toBe(true);
  return Object.fromEntries(
    offer.options.flatMap(({ slug, requirements }) =>
      requirements.map(({ id, type }) => [slug === 'all' ? type : `${slug} ${type}`, reply.statuses[id]]),
    ),
  );
};
const optionOf = (slug: string) => offer.options.find((option) => option.slug === slug)?.id ?? '';

const refusalFor = async (userId: string, slug: string) => {
  const user = { userId, partnerId: '01890000-0000-7000-8000-000000000001' };
  const options = offer.options.filter((option) => option.slug === slug);
  const gate = { offer, options, wallet: `0x${'ab'.repeat(20)}`, chain: 'ethereum_sepolia' as const };
  return refusalOf('participate', await decideFor(world.ctx, user, 'participate', gate));
};

const GREEN = { answer: 'GREEN' } as const;
const notStarted = (kyc_level: string) => ({ status: 'not_started', kyc_level, kyc_reset: false });

test('statuses go from not_started to completed, in one map for all options', async () => {
  const { token, userId } = await newUser();
  const reply = (await get(token, offer.slug)).json();
  expect(reply).toMatchObject({ object: 'requirement_statuses', offer_id: offer.id });
  expect(Object.keys(reply.statuses)).toHaveLength(8);
  expect(await statuses(token)).toEqual({
    identity_verification: notStarted('Sorting_KYC_Level'),
    kyc_approved: notStarted('BasicKYCLevel'),
    accreditation: notStarted('AccreditationIndividual_FullVerification'),
    'strict accreditation': notStarted('AccreditationIndividual_FullVerification'),
    external_wallet: 'not_started',
    whitelisted_wallet: 'not_started',
    document: 'not_started',
    jurisdiction: {
      status: 'action_needed',
      action: 'kyc_not_verified',
      kyc_level: 'Sorting_KYC_Level',
      kyc_reset: false,
    },
  });
  const refused = await refusalFor(userId, 'all');
  expect(refused).toMatchObject({
    code: 'requirements_not_met',
    details: Object.fromEntries(
      (offer.options[0]?.requirements ?? []).map(({ id, type }) => [
        id,
        [type === 'jurisdiction' ? 'action_needed' : 'not_started'],
      ]),
    ),
  });
  expect(await refusalFor(userId, 'none')).toMatchObject({ code: 'wallet_not_proven' });

  for (const level_name of ['Sorting_KYC_Level', 'BasicKYCLevel', 'AccreditationIndividual_FullVerification'])
    await world.review(userId, { level_name, ...GREEN });
  await world.app.inject({
    method: 'POST',
    url: '/v1/documents/tax_certification/submission',
    headers: { authorization: `Bearer ${token}` },
    payload: {},
  });
  expect((await statuses(token)).document).toBe('in_progress');
  const { id } = await world.ctx.db
    .selectFrom('document_submissions')
    .select('id')
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow();
  await world.call('documents/act', { external_id: id, action: 'sign' });
  await world.ctx.db
    .insertInto('option_addresses')
    .values({
      id: '01890000-0000-7000-8000-0000000000cc',
      option_id: optionOf('all'),
      user_id: userId,
      protocol: 'ethereum',
      address: `0x${'ab'.repeat(20)}`,
      partner_id: '01890000-0000-7000-8000-000000000001',
      proved_chain: 'ethereum_sepolia',
      proved_at: '2026-03-02T12:00:00Z',
      created_at: '2026-03-02T12:00:00Z',
    })
    .execute();
  expect(new Set(Object.values(await statuses(token)))).toEqual(new Set(['completed']));
  await world.ctx.db.deleteFrom('wallet_proofs').where('user_id', '=', userId).execute();
  expect(await refusalFor(userId, 'all')).toMatchObject({ code: 'wallet_not_proven' });

  const before = world.clock.now();
  world.clock.set(before + 86_400_000);
  expect((await statuses(token))['strict accreditation']).toEqual({
    status: 'action_needed',
    action: 'kyc_not_verified',
    kyc_level: 'AccreditationIndividual_FullVerification',
    kyc_reset: true,
  });
  expect((await statuses(token)).accreditation).toBe('completed');
  world.clock.set(before);
});

test('an approval without complete data needs an update, and a move to a rejected country is noticed', async () => {
  const { token, userId } = await newUser();
  await world.review(userId, {
    level_name: 'BasicKYCLevel',
    ...GREEN,
    pii: { first_name: 'A', last_name: 'B', date_of_birth: '1990-01-01' },
  });
  expect(await statuses(token)).toMatchObject({
    kyc_approved: {
      status: 'action_needed',
      action: 'update_pii_data',
      kyc_level: 'BasicKYCLevel',
      kyc_reset: true,
    },
    jurisdiction: { action: 'kyc_not_verified' },
  });
  const pii = { first_name: 'A', last_name: 'B', date_of_birth: '1990-01-01', address: { country: 'FR' } };
  await world.review(userId, { level_name: 'BasicKYCLevel', ...GREEN, pii });
  expect(await statuses(token)).toMatchObject({ kyc_approved: 'completed', jurisdiction: 'completed' });
  await world.review(userId, {
    level_name: 'BasicKYCLevel',
    ...GREEN,
    pii: { ...pii, address: { country: 'US' } },
  });
  expect(await statuses(token)).toMatchObject({ kyc_approved: 'completed', jurisdiction: 'rejected' });
});

test('a final rejection on one level rejects every identity requirement and the jurisdiction', async () => {
  const { token, userId } = await newUser();
  for (const level_name of ['Sorting_KYC_Level', 'BasicKYCLevel'])
    await world.review(userId, { level_name, ...GREEN });
  expect(await statuses(token)).toMatchObject({
    identity_verification: 'completed',
    jurisdiction: 'completed',
  });
  await world.review(userId, {
    level_name: 'AccreditationIndividual_FullVerification',
    answer: 'RED',
    reject_type: 'FINAL',
  });
  const rejected = {
    identity_verification: 'rejected',
    kyc_approved: 'rejected',
    accreditation: 'rejected',
    'strict accreditation': 'rejected',
    jurisdiction: 'rejected',
  };
  expect(await statuses(token)).toMatchObject(rejected);
  // A review at another level, approved or not, does not lift the rejection.
  await world.advance(1);
  await world.review(userId, { level_name: 'BasicKYCLevel', ...GREEN });
  expect(await statuses(token)).toMatchObject(rejected);
});

describe('an approval counts only for the person it was given to', () => {
  const LEVELS = ['Sorting_KYC_Level', 'BasicKYCLevel', 'AccreditationIndividual_FullVerification'];
  const ANNA = {
    first_name: 'Anna-Łucja',
    middle_name: 'Maria',
    last_name: "O'Néil",
    date_of_birth: '1990-01-01',
    address: { country: 'FR' },
  };
  const approve = async (
    levels: string[],
    pii: Partial<typeof ANNA> | { company_name: string },
    kind?: 'company',
  ) => {
    const user = await newUser();
    if (kind !== undefined)
      await world.ctx.db.updateTable('users').set({ kind }).where('id', '=', user.userId).execute();
    for (const level_name of levels)
      await world.review(user.userId, { level_name, ...GREEN, pii, ...(kind && { kind }) });
    return { ...user, kind };
  };
  const redo = ({ userId, kind }: Awaited<ReturnType<typeof approve>>, level_name: string, pii: object) =>
    world.review(userId, { level_name, ...GREEN, pii, ...(kind && { kind }) });
  const verifyAgain = (kyc_level: string) => ({
    status: 'action_needed',
    action: 'kyc_not_verified',
    kyc_level,
    kyc_reset: true,
  });

  test.each([
    ['another first name', { ...ANNA, first_name: 'Berta' }],
    ['another last name', { ...ANNA, last_name: 'Neal' }],
    ['another date of birth', { ...ANNA, date_of_birth: '1990-01-02' }],
  ])('%s on one level ends the approvals of the others, until they are done again', async (_what, other) => {
    const user = await approve(LEVELS, ANNA);
    await redo(user, 'Sorting_KYC_Level', other);
    expect(await statuses(user.token)).toMatchObject({
      identity_verification: 'completed',
      kyc_approved: verifyAgain('BasicKYCLevel'),
      accreditation: verifyAgain('AccreditationIndividual_FullVerification'),
    });
    await redo(user, 'BasicKYCLevel', other);
    expect(await statuses(user.token)).toMatchObject({
      identity_verification: 'completed',
      kyc_approved: 'completed',
      accreditation: verifyAgain('AccreditationIndividual_FullVerification'),
    });
  });

  test.each([
    ['case, diacritics and punctuation', { ...ANNA, first_name: 'ANNA LUCJA', last_name: 'ONEIL' }],
    ['another middle name', { ...ANNA, middle_name: 'Zofia' }],
    ['no middle name', { ...ANNA, middle_name: '' }],
    ['another address', { ...ANNA, address: { country: 'ES' } }],
  ])('%s make no difference', async (_what, other) => {
    const user = await approve(LEVELS, ANNA);
    await redo(user, 'Sorting_KYC_Level', other);
    expect(await statuses(user.token)).toMatchObject({
      identity_verification: 'completed',
      kyc_approved: 'completed',
      accreditation: 'completed',
    });
  });

  test('companies are compared by name', async () => {
    const address = { country: 'FR' };
    const user = await approve(
      LEVELS,
      { company_name: 'Société Générale, S.A.', address } as never,
      'company',
    );
    await redo(user, 'BasicKYCLevel', { company_name: 'SOCIETE GENERALE SA', address });
    expect((await statuses(user.token)).identity_verification).toBe('completed');
    await redo(user, 'BasicKYCLevel', { company_name: 'Shell GmbH', address });
    expect((await statuses(user.token)).identity_verification).toEqual(verifyAgain('Sorting_KYC_Level'));
  });

  test('an approval does not count before its person is known', async () => {
    const user = await approve(LEVELS, ANNA);
    await world.advance(1);
    await world.call('identity/fault', { mode: 'down' });
    const { delivered } = await world.call('identity/review', {
      user_id: user.userId,
      kind: 'person',
      email: 'a@b.c',
      level_name: 'Sorting_KYC_Level',
      ...GREEN,
      pii: { ...ANNA, first_name: 'Berta' },
    });
    expect(delivered).toBe(true);
    expect((await statuses(user.token)).identity_verification).toBe('in_progress');
    await world.call('identity/fault', { mode: 'none' });
    await settleApplicant(world.ctx, user.userId);
    expect(await statuses(user.token)).toMatchObject({
      identity_verification: 'completed',
      kyc_approved: verifyAgain('BasicKYCLevel'),
    });
  });

  test('names are not stored with the reviews, and the same name has different hashes for two users', async () => {
    const users = [await approve(['BasicKYCLevel'], ANNA), await approve(['BasicKYCLevel'], ANNA)];
    const rows = await world.ctx.db
      .selectFrom('identity_reviews')
      .select('person_hash')
      .where(
        'user_id',
        'in',
        users.map(({ userId }) => userId),
      )
      .execute();
    const hashes = rows.map(({ person_hash }) => person_hash?.toString('hex'));
    expect([new Set(hashes).size, ...hashes.map((hash) => hash?.length)]).toEqual([2, 64, 64]);
  });
});

test('the jurisdiction of stale data must be confirmed again', async () => {
  const { token, userId } = await newUser();
  await world.review(userId, { level_name: 'BasicKYCLevel', ...GREEN });
  expect((await statuses(token)).jurisdiction).toBe('completed');
  await world.advance(1);
  await world.call('identity/send-webhook', { user_id: userId, type: 'applicantPersonalDataDeleted' });
  expect((await statuses(token)).jurisdiction).toEqual({
    status: 'action_needed',
    action: 'update_pii_data',
    kyc_level: 'Sorting_KYC_Level',
    kyc_reset: true,
  });
});

test('spellings do not evade a region filter, and an unrecognised region never passes', async () => {
  const { token, userId } = await newUser();
  const regional = await makeOffer(
    world.ctx,
    saleFile({
      slug: 'regional',
      options: [
        {
          ...saleFile().options[0],
          requirements: [
            {
              type: 'jurisdiction',
              details: {
                filter_type: 'reject',
                filters: [
                  { country_iso_2: 'US', regions: ['NY', 'PR'] },
                  { country_iso_2: 'UA', regions: ['43', '14'] },
                ],
              },
            },
          ],
        },
      ] as OfferFile['options'],
    }),
  );
  const check = async (country: string, state: string) => {
    const address = { country, ...(state !== '' && { state }) };
    const pii = { first_name: 'A', last_name: 'B', date_of_birth: '1990-01-01', address };
    await world.review(userId, { level_name: 'BasicKYCLevel', ...GREEN, pii });
    return Object.values((await get(token, regional.id)).json().statuses)[0];
  };
  for (const [country, state] of [
    ['US', 'N.Y.'],
    ['US', 'State of New York'],
    ['US', 'Puerto Rico'],
    ['PR', ''],
    ['UA', 'Krym'],
    ['UA', 'Donetsk region'],
  ] as const)
    expect([country, state, await check(country, state)]).toEqual([country, state, 'rejected']);
  for (const [country, state] of [
    ['US', 'Texas'],
    ['UA', 'Lviv'],
    ['DE', 'Gotham'],
    ['GU', ''],
  ] as const)
    expect([country, state, await check(country, state)]).toEqual([country, state, 'completed']);
  for (const [country, state] of [
    ['US', ''],
    ['US', 'Gotham'],
    ['UA', 'Simferopol'],
  ] as const)
    expect(await check(country, state)).toEqual({
      status: 'action_needed',
      action: 'kyc_not_verified',
      kyc_level: 'Sorting_KYC_Level',
      kyc_reset: false,
    });
});

test('a deactivated applicant is rejected, and its jurisdiction too', async () => {
  const { token, userId } = await newUser();
  await world.review(userId, { level_name: 'BasicKYCLevel', ...GREEN });
  await world.call('identity/send-webhook', { user_id: userId, type: 'applicantDeactivated' });
  expect(await statuses(token)).toMatchObject({
    identity_verification: 'rejected',
    kyc_approved: 'rejected',
    jurisdiction: 'rejected',
  });
});

test('a document signed before a change of the data, or by a US person, does not count', async () => {
  const { token, userId } = await newUser();
  const pii = { first_name: 'A', last_name: 'B', date_of_birth: '1990-01-01', address: { country: 'FR' } };
  const sign = async () => {
    await world.app.inject({
      method: 'POST',
      url: '/v1/documents/tax_certification/submission',
      headers: { authorization: `Bearer ${token}` },
      payload: {},
    });
    const { id } = await world.ctx.db
      .selectFrom('document_submissions')
      .select('id')
      .where('user_id', '=', userId)
      .orderBy('attempt', 'desc')
      .executeTakeFirstOrThrow();
    await world.call('documents/act', { external_id: id, action: 'sign' });
  };
  await sign();
  expect((await statuses(token)).document).toBe('completed');
  await world.review(userId, { level_name: 'BasicKYCLevel', ...GREEN, pii });
  expect((await statuses(token)).document).toBe('action_needed');
  await sign();
  expect((await statuses(token)).document).toBe('completed');
  await world.review(userId, {
    level_name: 'BasicKYCLevel',
    ...GREEN,
    pii: { ...pii, address: { country: 'ES' } },
  });
  expect((await statuses(token)).document).toBe('action_needed');
  await world.review(userId, {
    level_name: 'BasicKYCLevel',
    ...GREEN,
    pii: { ...pii, address: { country: 'VI' } },
  });
  expect((await statuses(token)).document).toBe('rejected');
});

test('statuses do not change while both providers are down', async () => {
  const { token, userId } = await newUser();
  await world.review(userId, { level_name: 'BasicKYCLevel', ...GREEN });
  const before = await statuses(token);
  for (const name of ['identity/fault', 'documents/fault'] as const) await world.call(name, { mode: 'down' });
  expect(await statuses(token)).toEqual(before);
  for (const name of ['identity/fault', 'documents/fault'] as const) await world.call(name, { mode: 'none' });
});

test('statuses are read in one database round trip', async () => {
  const { token } = await newUser();
  await get(token);
  const read = async () => expect((await get(token)).statusCode).toBe(200);
  expect(await countStatements(world.ctx.pool, read)).toEqual({ connections: 1, statements: 1 });
});

test('an unknown offer and an offer of another partner return 404', async () => {
  const { token } = await newUser();
  expect((await get(token, 'unknown')).json().code).toBe('not_found');
  const stranger = await world.tokenFor({ clientId: 'partner-two' });
  expect((await get(stranger)).json().code).toBe('not_found');
});
