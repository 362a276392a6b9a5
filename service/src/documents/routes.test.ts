import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startWorld, type World } from '../../test/support/providers.ts';
import { checkNextSubmission } from './reconcile.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

const newUser = async (kind: 'person' | 'company' = 'person') => {
  const { userId, token } = await world.newUser();
  if (kind === 'company')
    await world.ctx.db.updateTable('users').set({ kind }).where('id', '=', userId).execute();
  return { userId, token };
};
type User = Awaited<ReturnType<typeof newUser>>;

const FORM = { 'Full Name': 'Ada Lovelace', Country: 'United Kingdom', Signature: 'Ada Lovelace' };
const post = ({ token }: User, body: object = FORM, type = 'tax_certification') =>
  world.app.inject({
    method: 'POST',
    url: `/v1/documents/${type}/submission`,
    headers: { authorization: `Bearer ${token}` },
    payload: body,
  });
const outcome = async (user: User, body: object = FORM) => {
  const reply = await post(user, body);
  return [reply.statusCode, reply.json().code ?? reply.json().status];
};
const mails = async ({ userId }: User) =>
  (await world.call('documents/mails', { to: `${userId}@user.test` })).mails.length;
const rows = ({ userId }: User) =>
  world.ctx.db
    .selectFrom('document_submissions')
    .select(['id', 'attempt', 'status', 'form_type'])
    .where('user_id', '=', userId)
    .orderBy('attempt')
    .execute();
const act = async (user: User, action: 'view' | 'sign' | 'decline' | 'expire') => {
  const external_id = (await rows(user)).at(-1)?.id ?? '';
  expect(await world.call('documents/act', { external_id, action })).toEqual({ delivered: true });
};
const statuses = async (user: User) => (await rows(user)).map(({ status }) => status);

test('the form is sent by mail, filled as told, and follows from the kind of user', async () => {
  const user = await newUser();
  const reply = await post(user);
  expect(reply.json()).toEqual({ object: 'document_submission', form_type: 'w8_ben', status: 'SENT' });
  expect(await mails(user)).toBe(1);
  const company = await newUser('company');
  expect((await post(company)).json()).toMatchObject({ form_type: 'w8_ben_e', status: 'SENT' });
});

test('posting again mails the link again, once a minute at most, and stays the same form', async () => {
  const user = await newUser();
  await post(user);
  const early = await post(user);
  expect([early.statusCode, early.json().code, early.headers['retry-after']]).toEqual([
    429,
    'rate_limited',
    '60',
  ]);
  await act(user, 'view');
  await world.advance(61);
  expect(await outcome(user)).toEqual([200, 'VIEWED']);
  expect(await mails(user)).toBe(2);
  expect(await statuses(user)).toEqual(['VIEWED']);
});

test.each([
  ['decline', 'DECLINED'],
  ['expire', 'EXPIRED'],
] as const)('after %s a post starts a new form', async (action, status) => {
  const user = await newUser();
  await post(user);
  await act(user, action);
  expect(await statuses(user)).toEqual([status]);
  expect(await outcome(user)).toEqual([200, 'SENT']);
  expect(await statuses(user)).toEqual([status, 'SENT']);
  expect(await mails(user)).toBe(2);
});

test('a signed form is refused again while it is valid, and renewed when it is not', async () => {
  const user = await newUser();
  await post(user);
  await act(user, 'sign');
  expect(await outcome(user)).toEqual([409, 'document_completed']);
  const { completed_at } = await world.ctx.db
    .selectFrom('document_submissions')
    .select('completed_at')
    .where('user_id', '=', user.userId)
    .executeTakeFirstOrThrow();
  const signed = Date.parse(String(completed_at));
  const year = new Date(signed).getUTCFullYear();
  const { clock } = world;
  const before = clock.now();
  clock.set(Date.UTC(year + 3, 11, 31, 23, 59, 59));
  expect(await outcome(user)).toEqual([409, 'document_completed']);
  clock.set(Date.UTC(year + 4, 0, 1));
  await world.providers.setClock(clock.now());
  expect(await outcome(user)).toEqual([200, 'SENT']);
  clock.set(before);
  await world.providers.setClock(before);
});

test('personal data that changed after signing make a new form possible', async () => {
  const user = await newUser();
  const pii = { first_name: 'A', last_name: 'B', date_of_birth: '1990-01-01', address: { country: 'DE' } };
  await world.review(user.userId, { level_name: 'BasicKYCLevel', answer: 'GREEN', pii });
  await post(user);
  await act(user, 'sign');
  expect(await outcome(user)).toEqual([409, 'document_completed']);
  const moved = { ...pii, address: { country: 'FR' } };
  await world.review(user.userId, { level_name: 'BasicKYCLevel', answer: 'GREEN', pii: moved });
  expect(await outcome(user)).toEqual([200, 'SENT']);
});

test.each([
  [{ Country: 'United States' }],
  [{ country_of_citizenship: ' usa ' }],
  [{ 'Country Of Citizenship': 'Puerto Rico' }],
])('a US person needs another form: nothing is sent for %j', async (values) => {
  const user = await newUser();
  const reply = await post(user, values);
  expect([reply.statusCode, reply.json().code, reply.json().errors]).toEqual([
    422,
    'tax_form_not_applicable',
    { form: ['W-9 required'] },
  ]);
  expect([await rows(user), await mails(user)]).toEqual([[], 0]);
});

test('what is on record counts as much as what is posted', async () => {
  const user = await newUser();
  const pii = { first_name: 'A', last_name: 'B', date_of_birth: '1990-01-01', address: { country: 'GU' } };
  await world.review(user.userId, { level_name: 'BasicKYCLevel', answer: 'GREEN', pii });
  expect(await outcome(user, { Country: 'France' })).toEqual([422, 'tax_form_not_applicable']);
});

test('bad bodies and unknown documents are refused', async () => {
  const user = await newUser();
  expect((await post(user, FORM, 'passport')).json().code).toBe('not_found');
  expect(await outcome(user, { DOB: 1 })).toEqual([422, 'validation_failed']);
  const many = Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`f${i}`, 'x']));
  expect(await outcome(user, many)).toEqual([422, 'validation_failed']);
  expect(await outcome(user, { Signature: '?'.repeat(100) })).toEqual([422, 'validation_failed']);
  expect(await rows(user)).toEqual([]);
  expect(await outcome(user)).toEqual([200, 'SENT']);
});

test('twelve posts at once send one mail', async () => {
  const user = await newUser();
  const replies = await Promise.all(Array.from({ length: 12 }, () => outcome(user)));
  expect(new Set(replies.map(String))).toEqual(new Set(['200,SENT', '429,rate_limited']));
  expect(await mails(user)).toBe(1);
  expect(await statuses(user)).toEqual(['SENT']);
});

test('an answer that was lost after the mail went out is found again, without a second mail', async () => {
  const user = await newUser();
  await world.call('documents/one-shot-fault', { fault: 'silent_after_effect' });
  expect(await outcome(user)).toEqual([200, 'SENT']);
  expect(await mails(user)).toBe(1);
});

test('an answer that is lost for longer leaves the form open until it is found', async () => {
  const user = await newUser();
  await world.call('documents/one-shot-fault', { fault: 'silent_after_effect' });
  const posting = outcome(user);
  while ((await mails(user)) === 0) await sleep(5);
  await world.call('documents/fault', { mode: 'garbage' });
  expect(await posting).toEqual([503, 'upstream_unavailable']);
  expect(await statuses(user)).toEqual(['INITIALIZED']);
  await world.call('documents/fault', { mode: 'none' });
  expect(await outcome(user)).toEqual([200, 'SENT']);
  expect(await mails(user)).toBe(1);
});

test('a form whose creation was never answered is asked after, and given up when it was never made', async () => {
  const user = await newUser();
  await world.call('documents/fault', { mode: 'garbage' });
  expect(await outcome(user)).toEqual([502, 'upstream_error']);
  await world.call('documents/fault', { mode: 'none' });
  const [row] = await rows(user);
  const makeDue = () =>
    world.ctx.db
      .updateTable('document_submissions')
      .set({ due_at: '2020-01-01T00:00:00Z' })
      .where('id', '=', row?.id ?? '')
      .execute();
  await makeDue();
  await checkNextSubmission(world.ctx);
  expect(await statuses(user)).toEqual(['INITIALIZED']);
  await world.advance(11 * 60);
  await makeDue();
  await checkNextSubmission(world.ctx);
  expect(await statuses(user)).toEqual(['EXPIRED']);
});

test('a webhook that was lost is made up for by asking', async () => {
  const user = await newUser();
  await post(user);
  await world.call('documents/delivery', { mode: 'drop' });
  await act(user, 'sign');
  await world.call('documents/delivery', { mode: 'normal' });
  expect(await statuses(user)).toEqual(['SENT']);
  await world.ctx.db
    .updateTable('document_submissions')
    .set({ due_at: '2020-01-01T00:00:00Z' })
    .where('user_id', '=', user.userId)
    .execute();
  await checkNextSubmission(world.ctx);
  expect(await statuses(user)).toEqual(['COMPLETED']);
});

test('a form that was signed unheard of is found out by the next post', async () => {
  const user = await newUser();
  await post(user);
  await world.call('documents/delivery', { mode: 'drop' });
  await act(user, 'sign');
  await world.call('documents/delivery', { mode: 'normal' });
  await world.advance(61);
  expect(await outcome(user)).toEqual([409, 'document_completed']);
  expect(await mails(user)).toBe(1);
});

test.each(['down', 'rate_limited', 'garbage'] as const)(
  'while the provider is %s the error says so, and afterwards the next post goes through',
  async (mode) => {
    const user = await newUser();
    await world.call('documents/fault', { mode });
    const reply = await post(user);
    expect([reply.statusCode, reply.json().errors]).toEqual([
      mode === 'garbage' ? 502 : 503,
      { upstream: 'documents' },
    ]);
    if (mode !== 'garbage') expect(Number(reply.headers['retry-after'])).toBeGreaterThan(0);
    await world.call('documents/fault', { mode: 'none' });
    // A provider that asked to be left alone is left alone for a second.
    let last = await outcome(user);
    while (last[0] === 503) {
      await sleep(100);
      last = await outcome(user);
    }
    expect(last).toEqual([200, 'SENT']);
    expect(await mails(user)).toBe(1);
  },
);

test('events out of order never move a form back', async () => {
  const user = await newUser();
  await post(user);
  await world.call('documents/delivery', { mode: 'reorder' });
  await act(user, 'view');
  await act(user, 'sign');
  await world.call('documents/delivery', { release: true });
  expect(await statuses(user)).toEqual(['COMPLETED']);
});

test('late events of an old form do not touch the new one', async () => {
  const user = await newUser();
  await post(user);
  const [old] = await rows(user);
  await world.call('documents/delivery', { mode: 'reorder' });
  await world.call('documents/act', { external_id: old?.id ?? '', action: 'decline' });
  await world.advance(61);
  expect(await outcome(user)).toEqual([200, 'SENT']);
  await world.call('documents/delivery', { release: true });
  expect(await statuses(user)).toEqual(['DECLINED', 'SENT']);
});
