import { afterAll, beforeAll, expect, test } from 'vitest';
import { startWorld, type World } from '../../../test/support/providers.ts';
import { settleApplicant } from './reconcile.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

const newUser = () => world.newUser();
const createToken = (token: string, body: object = {}) =>
  world.app.inject({
    method: 'POST',
    url: '/v1/kyc-token',
    headers: { authorization: `Bearer ${token}` },
    payload: body,
  });
const reviews = (userId: string) =>
  world.ctx.db
    .selectFrom('identity_reviews')
    .select(['level_name', 'review_status', 'answer', 'reject_type'])
    .where('user_id', '=', userId)
    .orderBy('level_name')
    .execute();
const pii = async (token: string) =>
  (await world.app.inject({ url: '/v1/pii', headers: { authorization: `Bearer ${token}` } })).json();

const level_name = 'Sorting_KYC_Level';

test('a token is created with JSON, with a form and with an empty body', async () => {
  const { token } = await newUser();
  const reply = await createToken(token);
  expect([reply.statusCode, reply.json()]).toEqual([
    200,
    { object: 'kyc_token', token: expect.stringMatching(/^_act-sbx-/) },
  ]);
  const form = await world.app.inject({
    method: 'POST',
    url: '/v1/kyc-token',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/x-www-form-urlencoded' },
    payload: 'level_name=BasicKYCLevel&reset=false',
  });
  expect(form.statusCode).toBe(200);
  expect((await createToken(token, { level_name: 'Another' })).json().code).toBe('validation_failed');
});

test('a token creates no applicant, and a reset without one has no effect', async () => {
  const { token, userId } = await newUser();
  expect((await createToken(token, { reset: true })).statusCode).toBe(200);
  expect(await world.ctx.identity.findApplicant(userId)).toBeNull();
});

test('verified data becomes the personal data, with alpha-2 country codes', async () => {
  const { token, userId } = await newUser();
  expect(await pii(token)).toEqual({
    object: 'user_pii',
    kind: 'person',
    full_legal_name: null,
    date_of_birth: null,
    jurisdiction: null,
    permanent_address: { street: null, city: null, state: null, postal_code: null, country: null },
    tax_id: null,
  });
  await world.review(userId, {
    level_name,
    answer: 'GREEN',
    pii: {
      first_name: 'Ada',
      middle_name: 'King',
      last_name: 'Lovelace',
      date_of_birth: '1815-12-10',
      address: {
        street: '12 St James Square',
        city: 'London',
        state: 'LND',
        postal_code: 'SW1Y',
        country: 'GB',
      },
      tax_id: 'QQ123456C',
    },
  });
  expect(await pii(token)).toEqual({
    object: 'user_pii',
    kind: 'person',
    full_legal_name: 'Ada King Lovelace',
    date_of_birth: '1815-12-10',
    jurisdiction: { iso_2: 'GB', name: 'United Kingdom' },
    permanent_address: {
      street: '12 St James Square',
      city: 'London',
      state: 'LND',
      postal_code: 'SW1Y',
      country: 'GB',
    },
    tax_id: 'QQ123456C',
  });
});

test('the answer of a level stays when the applicant moves to another', async () => {
  const { userId } = await newUser();
  await world.review(userId, { level_name, answer: 'GREEN' });
  await world.review(userId, { level_name: 'BasicKYCLevel', review_status: 'pending' });
  expect(await reviews(userId)).toEqual([
    { level_name: 'BasicKYCLevel', review_status: 'pending', answer: null, reject_type: null },
    { level_name, review_status: 'completed', answer: 'GREEN', reject_type: null },
  ]);
});

test.each(['pending', 'prechecked', 'queued', 'onHold', 'awaitingService'] as const)(
  'a reset during status %s is refused and clears nothing',
  async (review_status) => {
    const { token, userId } = await newUser();
    await world.review(userId, { level_name, review_status });
    const reply = await createToken(token, { reset: true });
    expect([reply.statusCode, reply.json().code]).toEqual([409, 'kyc_in_review']);
    expect((await world.ctx.identity.findApplicant(userId))?.review?.status).toBe(review_status);
  },
);

test('a reset is refused after a final rejection and starts over after any other answer', async () => {
  const { token, userId } = await newUser();
  await world.review(userId, { level_name, answer: 'RED', reject_type: 'RETRY' });
  expect((await createToken(token, { reset: true })).statusCode).toBe(200);
  expect(await reviews(userId)).toMatchObject([{ review_status: 'init', answer: null }]);
  await world.review(userId, { level_name, answer: 'RED', reject_type: 'FINAL' });
  const reply = await createToken(token, { reset: true });
  expect([reply.statusCode, reply.json().code]).toEqual([409, 'kyc_final_rejection']);
  expect((await world.ctx.identity.findApplicant(userId))?.review?.rejectType).toBe('FINAL');
});

const LEVELS = ['Sorting_KYC_Level', 'BasicKYCLevel', 'AccreditationIndividual_FullVerification'];

test('a final rejection on any level refuses tokens of every level, with and without reset', async () => {
  for (const rejected of LEVELS) {
    const { token, userId } = await newUser();
    await world.review(userId, { level_name: rejected, answer: 'RED', reject_type: 'FINAL' });
    // The applicant has moved to another level, so the provider no longer reports the rejection.
    await world.review(userId, {
      level_name: LEVELS.find((level) => level !== rejected) ?? '',
      review_status: 'init',
    });
    for (const level_name of LEVELS)
      for (const body of [{ level_name }, { level_name, reset: false }, { level_name, reset: true }]) {
        const reply = await createToken(token, body);
        expect([reply.statusCode, reply.json().code]).toEqual([409, 'kyc_final_rejection']);
      }
    expect(await reviews(userId)).toContainEqual({
      level_name: rejected,
      review_status: 'completed',
      answer: 'RED',
      reject_type: 'FINAL',
    });
  }
});

test('a deactivated applicant gets no token until it is activated again', async () => {
  const { token, userId } = await newUser();
  await world.review(userId, { level_name, answer: 'GREEN' });
  await world.call('identity/send-webhook', { user_id: userId, type: 'applicantDeactivated' });
  for (const reset of [false, true])
    expect((await createToken(token, { reset })).json().code).toBe('kyc_final_rejection');
  await world.advance(1);
  await world.call('identity/send-webhook', { user_id: userId, type: 'applicantActivated' });
  expect((await createToken(token)).statusCode).toBe(200);
});

test('deleting the applicant at the provider does not clear a final rejection', async () => {
  const { token, userId } = await newUser();
  await world.review(userId, { level_name, answer: 'RED', reject_type: 'FINAL' });
  await world.advance(1);
  await world.call('identity/send-webhook', { user_id: userId, type: 'applicantDeleted' });
  expect((await createToken(token)).json().code).toBe('kyc_final_rejection');
});

test('a later answer of the provider on the same level lifts a final rejection', async () => {
  const { token, userId } = await newUser();
  await world.review(userId, { level_name, answer: 'RED', reject_type: 'FINAL' });
  await world.advance(1);
  await world.review(userId, { level_name, answer: 'GREEN' });
  expect((await createToken(token, { level_name: 'BasicKYCLevel' })).statusCode).toBe(200);
});

test('a final rejection that arrives while a token is created refuses the token', async () => {
  const { token, userId } = await newUser();
  await world.review(userId, { level_name, review_status: 'pending' });
  const { identity } = world.ctx;
  const { createToken: mint } = identity;
  identity.createToken = async (input) => {
    await world.review(userId, { level_name, answer: 'RED', reject_type: 'FINAL' });
    return mint(input);
  };
  const reply = await createToken(token).finally(() => {
    identity.createToken = mint;
  });
  expect([reply.statusCode, reply.json().code]).toEqual([409, 'kyc_final_rejection']);
});

test('a final rejection that arrives right after a reset is not cleared by it', async () => {
  const { token, userId } = await newUser();
  await world.review(userId, { level_name, answer: 'RED', reject_type: 'RETRY' });
  await world.advance(1);
  const { identity } = world.ctx;
  const { resetApplicant } = identity;
  identity.resetApplicant = async (id) => {
    const isReset = await resetApplicant(id);
    await world.review(userId, { level_name, answer: 'RED', reject_type: 'FINAL' });
    return isReset;
  };
  const reply = await createToken(token, { level_name, reset: true }).finally(() => {
    identity.resetApplicant = resetApplicant;
  });
  expect([reply.statusCode, reply.json().code]).toEqual([409, 'kyc_final_rejection']);
  expect(await reviews(userId)).toMatchObject([{ level_name, reject_type: 'FINAL' }]);
});

test('resetting one level never clears another', async () => {
  for (const current of LEVELS)
    for (const level_name of LEVELS) {
      const { token, userId } = await newUser();
      for (const level of [...LEVELS.filter((each) => each !== current), current])
        await world.review(userId, { level_name: level, answer: 'GREEN' });
      await world.advance(1);
      expect((await createToken(token, { level_name, reset: true })).statusCode).toBe(200);
      await settleApplicant(world.ctx, userId);
      const answers = Object.fromEntries(
        (await reviews(userId)).map(({ level_name: level, answer }) => [level, answer]),
      );
      expect(answers).toEqual(
        Object.fromEntries(LEVELS.map((level) => [level, level === level_name ? null : 'GREEN'])),
      );
      expect((await world.ctx.identity.findApplicant(userId))?.review).toMatchObject({
        levelName: level_name,
        status: 'init',
      });
    }
});

test('without reset an approved applicant is unchanged', async () => {
  const { token, userId } = await newUser();
  await world.review(userId, { level_name, answer: 'GREEN' });
  expect((await createToken(token)).statusCode).toBe(200);
  expect(await reviews(userId)).toMatchObject([{ answer: 'GREEN' }]);
});
