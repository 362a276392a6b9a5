import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { startWorld, type World } from '../../../test/support/providers.ts';
import { failureOfStatus, upstreamError } from '../../platform/outbound/failure.ts';
import { openSumsub } from '../../platform/providers/sumsub.ts';
import { eraseUser, tryErasure } from '../erasure/erasure.ts';
import { checkNext, settleApplicant, startIdentityReconciler } from './reconcile.ts';

let world: World;
let userId: string;
let token: string;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());
beforeEach(async () => {
  ({ userId, token } = await world.newUser());
});

const level_name = 'BasicKYCLevel';
const review = async () =>
  world.ctx.db
    .selectFrom('identity_reviews')
    .select(['review_status', 'answer', 'reject_type'])
    .where('user_id', '=', userId)
    .executeTakeFirst();
const move = (input: object) =>
  world.call('identity/review', {
    user_id: userId,
    kind: 'person',
    email: 'a@b.c',
    level_name,
    ...input,
  } as never);
const createToken = (body: object = {}) =>
  world.app.inject({
    method: 'POST',
    url: '/v1/kyc-token',
    headers: { authorization: `Bearer ${token}` },
    payload: body,
  });
const country = async () =>
  (await world.app.inject({ url: '/v1/pii', headers: { authorization: `Bearer ${token}` } })).json()
    .permanent_address.country;

test('a lost webhook is made up for at the next start', async () => {
  await createToken();
  await world.call('identity/delivery', { mode: 'drop' });
  await move({ answer: 'GREEN' });
  await world.call('identity/delivery', { mode: 'normal' });
  expect(await review()).toBeUndefined();
  const reconciler = await startIdentityReconciler(world.ctx);
  while ((await review())?.answer !== 'GREEN') await sleep(10);
  await reconciler.stop();
  expect(await country()).toBe('DE');
});

test('a webhook wakes the reconciler, which applies the provider state', async () => {
  const reconciler = await startIdentityReconciler(world.ctx);
  await move({ review_status: 'pending' });
  await world.call('identity/delivery', { mode: 'drop' });
  await move({ answer: 'RED', reject_type: 'RETRY' });
  await world.call('identity/delivery', { mode: 'normal' });
  await world.call('identity/send-webhook', { user_id: userId, type: 'applicantWorkflowCompleted' });
  while ((await review())?.answer !== 'RED') await sleep(10);
  await reconciler.stop();
});

test('the last answer counts: an approval followed by a rejection', async () => {
  await world.review(userId, { level_name, answer: 'GREEN' });
  await world.advance(1);
  await world.review(userId, { level_name, answer: 'RED', reject_type: 'FINAL' });
  expect(await review()).toEqual({ review_status: 'completed', answer: 'RED', reject_type: 'FINAL' });
});

test('a late event about a previous level changes nothing', async () => {
  await world.call('identity/delivery', { mode: 'reorder' });
  await move({ review_status: 'pending' });
  await world.advance(1);
  await move({ answer: 'GREEN' });
  await world.advance(1);
  await move({ level_name: 'Sorting_KYC_Level', review_status: 'pending' });
  await world.call('identity/delivery', { release: true });
  await settleApplicant(world.ctx, userId);
  const rows = await world.ctx.db
    .selectFrom('identity_reviews')
    .select(['level_name', 'review_status', 'answer'])
    .where('user_id', '=', userId)
    .orderBy('level_name')
    .execute();
  expect(rows).toEqual([
    { level_name: 'BasicKYCLevel', review_status: 'completed', answer: 'GREEN' },
    { level_name: 'Sorting_KYC_Level', review_status: 'pending', answer: null },
  ]);
});

test('personal data corrected at the provider is updated', async () => {
  const pii = { first_name: 'A', last_name: 'B', date_of_birth: '1990-01-01', address: { country: 'FR' } };
  await world.review(userId, { level_name, answer: 'GREEN', pii });
  expect(await country()).toBe('FR');
  await world.call('identity/delivery', { mode: 'drop' });
  await move({ answer: 'GREEN', pii: { ...pii, address: { country: 'ES' } } });
  await world.call('identity/delivery', { mode: 'normal' });
  await world.call('identity/send-webhook', { user_id: userId, type: 'applicantPersonalInfoChanged' });
  await settleApplicant(world.ctx, userId);
  expect(await country()).toBe('ES');
});

test('unverified data does not replace verified data', async () => {
  const pii = { first_name: 'A', last_name: 'B', date_of_birth: '1990-01-01', address: { country: 'FR' } };
  await world.review(userId, { level_name, answer: 'GREEN', pii });
  await world.review(userId, {
    level_name,
    review_status: 'pending',
    pii: { ...pii, address: { country: 'ES' } },
  });
  expect(await country()).toBe('FR');
});

test.each(['down', 'garbage', 'rate_limited'] as const)(
  'while the provider is %s no data is lost, and the missing data follows afterwards',
  async (mode) => {
    await world.review(userId, { level_name, review_status: 'pending' });
    await world.call('identity/fault', { mode });
    const reply = await createToken();
    expect([reply.statusCode, reply.json().code, reply.json().errors]).toEqual(
      mode === 'garbage'
        ? [502, 'upstream_error', { upstream: 'identity' }]
        : [503, 'upstream_unavailable', { upstream: 'identity' }],
    );
    if (mode !== 'garbage') expect(Number(reply.headers['retry-after'])).toBeGreaterThan(0);
    await move({ answer: 'GREEN' });
    await checkNext(world.ctx, userId);
    // The webhook contained the answer, but the personal data arrives only with the next successful read.
    expect(await review()).toMatchObject({ answer: 'GREEN' });
    expect(await country()).toBeNull();
    await world.call('identity/fault', { mode: 'none' });
    const reconciler = await startIdentityReconciler(world.ctx);
    while ((await country()) !== 'DE') {
      await sleep(50);
      reconciler.wake();
    }
    await reconciler.stop();
  },
);

test('a reset whose response was lost can be repeated', async () => {
  const { identity } = world.ctx;
  const usual = { ...identity };
  const settings = world.providers.settings.identity;
  if (settings === null) throw new Error('no identity provider');
  // Waits 1.5 s instead of 8 s for replies.
  const brief = openSumsub(settings, undefined, 1_500);
  Object.assign(identity, brief);
  onTestFinished(async () => {
    Object.assign(identity, usual);
    await brief.close();
  });
  await world.review(userId, { level_name, answer: 'GREEN' });
  await world.call('identity/one-shot-fault', { fault: 'silent_after_effect' });
  expect((await createToken({ reset: true, level_name })).json().code).toBe('upstream_unavailable');
  expect((await createToken({ reset: true, level_name })).statusCode).toBe(200);
  expect(await review()).toMatchObject({ review_status: 'init' });
});

test('a reset that the provider refuses for now has a retry-after', async () => {
  await world.review(userId, { level_name, answer: 'GREEN' });
  await world.call('identity/one-shot-fault', { fault: 'conflict' });
  const reply = await createToken({ reset: true, level_name });
  expect([reply.json().code, reply.headers['retry-after']]).toEqual(['upstream_unavailable', '10']);
  expect(await review()).toMatchObject({ answer: 'GREEN' });
});

test('a reset wins over a late webhook with the answer it cleared', async () => {
  for (let round = 0; round < 5; round++) {
    await world.call('identity/delivery', { mode: 'reorder' });
    await move({ answer: 'GREEN' });
    await world.advance(1);
    const [reply] = await Promise.all([
      createToken({ reset: true, level_name }),
      world.call('identity/delivery', { release: true }),
    ]);
    expect(reply.statusCode).toBe(200);
    await settleApplicant(world.ctx, userId);
    expect(await review()).toMatchObject({ review_status: 'init', answer: null });
    await world.advance(1);
  }
});

test('concurrent resets and a review end in the state of the provider', async () => {
  await world.review(userId, { level_name, answer: 'GREEN' });
  await world.advance(1);
  const replies = await Promise.all([
    ...Array.from({ length: 8 }, () => createToken({ reset: true, level_name })),
    move({ review_status: 'pending' }).then(() => null),
  ]);
  for (const reply of replies) if (reply !== null) expect([200, 409, 503]).toContain(reply.statusCode);
  await world.advance(1);
  await world.call('identity/send-webhook', { user_id: userId, type: 'applicantPersonalInfoChanged' });
  await settleApplicant(world.ctx, userId);
  const applicant = await world.ctx.identity.findApplicant(userId);
  expect((await review())?.review_status).toBe(applicant?.review?.status);
});

test('deactivation, data deletion and deletion of the applicant are applied', async () => {
  await world.review(userId, { level_name, answer: 'GREEN' });
  const applicant = () =>
    world.ctx.db
      .selectFrom('identity_applicants')
      .select(['is_active', 'applicant_id'])
      .where('user_id', '=', userId)
      .executeTakeFirstOrThrow();
  const stale = async () =>
    (await world.ctx.db.selectFrom('pii').select('is_stale').where('user_id', '=', userId).executeTakeFirst())
      ?.is_stale;
  await world.call('identity/send-webhook', { user_id: userId, type: 'applicantDeactivated' });
  expect(await applicant()).toMatchObject({ is_active: false });
  await world.advance(1);
  await world.call('identity/send-webhook', { user_id: userId, type: 'applicantActivated' });
  expect(await applicant()).toMatchObject({ is_active: true });
  await world.call('identity/send-webhook', { user_id: userId, type: 'applicantPersonalDataDeleted' });
  expect(await stale()).toBe(true);
  await world.advance(1);
  await world.call('identity/send-webhook', { user_id: userId, type: 'applicantDeleted' });
  expect([await review(), await applicant()]).toMatchObject([
    { review_status: 'init' },
    { applicant_id: null },
  ]);
});

test('the applicant of an erased user is not read again, neither at a start nor after a check in progress', async () => {
  await world.review(userId, { level_name, review_status: 'pending' });
  const { identity } = world.ctx;
  let reads = 0;
  const findApplicant: typeof identity.findApplicant = async (id) => {
    if (id === userId) reads += 1;
    const found = await identity.findApplicant(id);
    // Erases the user while the first check is in progress.
    if (id === userId && reads === 1) await eraseUser(world.ctx, userId, 'requested');
    return found;
  };
  const ctx = { ...world.ctx, identity: { ...identity, findApplicant } };
  await world.ctx.pool.query('update identity_applicants set due_at = now() where user_id = $1', [userId]);
  expect(await checkNext(ctx, userId)).toBe('worked');
  const reconciler = await startIdentityReconciler(ctx);
  await sleep(500);
  await reconciler.stop();
  const { rows } = await world.ctx.pool.query(
    "select due_at = 'infinity' as is_ended, lease_until from identity_applicants where user_id = $1",
    [userId],
  );
  expect([reads, rows]).toEqual([1, [{ is_ended: true, lease_until: null }]]);
});

test('a read that fails while its user is being erased is not repeated', async () => {
  await world.review(userId, { level_name, review_status: 'pending' });
  const findApplicant = async (): Promise<never> => {
    await eraseUser(world.ctx, userId, 'requested');
    throw upstreamError('identity', failureOfStatus({ status: 503, rawHeaders: [] }) as never);
  };
  const ctx = { ...world.ctx, identity: { ...world.ctx.identity, findApplicant } };
  await world.ctx.pool.query('update identity_applicants set due_at = now() where user_id = $1', [userId]);
  await checkNext(ctx, userId);
  const { rows } = await world.ctx.pool.query(
    "select due_at = 'infinity' as is_ended, lease_until from identity_applicants where user_id = $1",
    [userId],
  );
  expect(rows).toEqual([{ is_ended: true, lease_until: null }]);
});

test('a user who is being erased gets no token, and no check is planned', async () => {
  let posted: ReturnType<typeof createToken> | undefined;
  await tryErasure(world.ctx, userId, 'operator', async () => {
    posted = createToken();
    await sleep(500);
  });
  expect((await posted)?.json().code).toBe('unauthorized');
  const { rows } = await world.ctx.pool.query('select from identity_applicants where user_id = $1', [userId]);
  expect(rows).toEqual([]);
});

test('approvals of a deleted applicant do not count for its successor, even if the deletion went unnoticed', async () => {
  const answers = async () =>
    world.ctx.db
      .selectFrom('identity_reviews')
      .select(['level_name', 'review_status', 'answer'])
      .where('user_id', '=', userId)
      .orderBy('level_name')
      .execute();
  await world.review(userId, { level_name, answer: 'GREEN' });
  // The approval belongs to an earlier applicant, which the provider has replaced by the current one.
  await world.ctx.db
    .updateTable('identity_applicants')
    .set({ applicant_id: '0123456789abcdef01234567' })
    .where('user_id', '=', userId)
    .execute();
  await world.advance(1);
  await world.review(userId, { level_name: 'Sorting_KYC_Level', review_status: 'pending' });
  const pii = () =>
    world.ctx.db.selectFrom('pii').select('is_stale').where('user_id', '=', userId).executeTakeFirst();
  expect([await answers(), await pii()]).toEqual([
    [
      { level_name: 'BasicKYCLevel', review_status: 'init', answer: null },
      { level_name: 'Sorting_KYC_Level', review_status: 'pending', answer: null },
    ],
    { is_stale: true },
  ]);
  await world.advance(1);
  await world.review(userId, { level_name: 'Sorting_KYC_Level', answer: 'GREEN' });
  expect([await answers(), await pii()]).toMatchObject([
    [{ level_name: 'BasicKYCLevel', answer: null }, { answer: 'GREEN' }],
    { is_stale: false },
  ]);
});

test('an event that is not about an applicant is accepted, so that the provider does not disable the webhook', async () => {
  await world.review(userId, { level_name, answer: 'GREEN' });
  const more = { applicantId: null, createdAtMs: null, createdAt: null };
  const send = (type: string) => world.call('identity/send-webhook', { user_id: userId, type, more });
  expect(await send('applicantKytTxnApproved')).toEqual({ delivered: true });
  expect(await review()).toMatchObject({ answer: 'GREEN' });
});

test('an applicant is read by one worker at a time', async () => {
  await world.review(userId, { level_name, review_status: 'pending' });
  await move({ review_status: 'onHold' });
  const steps = await Promise.all(Array.from({ length: 6 }, () => checkNext(world.ctx, userId)));
  expect(steps.filter((step) => step === 'worked')).toHaveLength(1);
});

test('a 429 with a long Retry-After pauses the worker for a minute and postpones only its applicant', async () => {
  await move({ review_status: 'pending' });
  const findApplicant = async () => {
    throw upstreamError(
      'identity',
      failureOfStatus({
        status: 429,
        rawHeaders: [Buffer.from('retry-after'), Buffer.from('3600')],
      }) as never,
    );
  };
  const ctx = { ...world.ctx, identity: { ...world.ctx.identity, findApplicant } };
  expect(await checkNext(ctx, userId)).toEqual({ pause: 60_000 });
  const { rows } = await world.ctx.pool.query(
    "select due_at > now() + interval '30 minutes' as is_postponed from identity_applicants where user_id = $1",
    [userId],
  );
  expect(rows).toEqual([{ is_postponed: true }]);
});
