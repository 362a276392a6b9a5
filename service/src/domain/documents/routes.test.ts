import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { expectAudited } from '../../../test/support/audited.ts';
import { startWorld, type World } from '../../../test/support/providers.ts';
import { failureOfStatus, upstreamError } from '../../platform/outbound/failure.ts';
import { openDocuseal } from '../../platform/providers/docuseal.ts';
import { settleApplicant } from '../identity/reconcile.ts';
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

test('the form depends on the kind of user and is sent by email', async () => {
  const user = await newUser();
  const reply = await post(user);
  expect(reply.json()).toEqual({ object: 'document_submission', form_type: 'w8_ben', status: 'SENT' });
  expect(await mails(user)).toBe(1);
  const company = await newUser('company');
  expect((await post(company)).json()).toMatchObject({ form_type: 'w8_ben_e', status: 'SENT' });
});

test('a repeated request resends the link of the same form, at most once a minute', async () => {
  const user = await newUser();
  await post(user);
  expect((await post(user)).json()).toEqual({
    object: 'document_submission',
    form_type: 'w8_ben',
    status: 'SENT',
  });
  await act(user, 'view');
  await world.advance(59);
  expect(await outcome(user)).toEqual([200, 'VIEWED']);
  expect(await mails(user)).toBe(1);
  await world.advance(61);
  expect(await outcome(user)).toEqual([200, 'VIEWED']);
  expect(await mails(user)).toBe(2);
  expect(await statuses(user)).toEqual(['VIEWED']);
});

test.each([
  ['decline', 'DECLINED'],
  ['expire', 'EXPIRED'],
] as const)('after %s a request starts a new form', async (action, status) => {
  const user = await newUser();
  await post(user);
  await act(user, action);
  expect(await statuses(user)).toEqual([status]);
  expect(await outcome(user)).toEqual([200, 'SENT']);
  expect(await statuses(user)).toEqual([status, 'SENT']);
  expect(await mails(user)).toBe(2);
});

test('after a change of the email address the form goes to the new one, and the former link ends', async () => {
  const user = await newUser();
  await post(user);
  await act(user, 'view');
  const address = `new-${user.userId}@user.test`;
  await world.ctx.db.updateTable('users').set({ email: address }).where('id', '=', user.userId).execute();
  await world.advance(61);
  expect(await outcome(user)).toEqual([200, 'SENT']);
  const [link] = (await world.call('documents/mails', { to: `${user.userId}@user.test` })).mails;
  expect((await world.call('documents/mails', { to: address })).mails).toHaveLength(1);
  expect(await mails(user)).toBe(1);
  expect(await (await fetch(String(link?.link))).text()).toContain('This form was withdrawn');
  expect(await statuses(user)).toEqual(['EXPIRED', 'SENT']);
  await world.advance(61);
  expect(await outcome(user)).toEqual([200, 'SENT']);
  expect(await statuses(user)).toEqual(['EXPIRED', 'SENT']);
});

test('a signed form can only be replaced once it is no longer valid', async () => {
  const user = await newUser();
  await post(user);
  await act(user, 'sign');
  expect(await outcome(user)).toEqual([409, 'document_completed']);
  await expectAudited(world.ctx, 'document_submission.SENT', 'document_submission.COMPLETED');
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

test.each(['the provider is down', 'the signature went unnoticed'])(
  'a form that was signed with former personal data stays void after a new request while %s',
  async (problem) => {
    const user = await newUser();
    const pii = { first_name: 'A', last_name: 'B', date_of_birth: '1990-01-01', address: { country: 'DE' } };
    await world.review(user.userId, { level_name: 'BasicKYCLevel', answer: 'GREEN', pii });
    await post(user);
    await world.call('documents/delivery', { mode: 'drop' });
    if (problem === 'the signature went unnoticed') await act(user, 'sign');
    await world.call('documents/delivery', { mode: 'normal' });
    const moved = { ...pii, address: { country: 'FR' } };
    await world.review(user.userId, { level_name: 'BasicKYCLevel', answer: 'GREEN', pii: moved });
    await world.advance(61);
    if (problem === 'the provider is down') {
      await world.call('documents/fault', { mode: 'down' });
      expect(await outcome(user)).toEqual([503, 'upstream_unavailable']);
      await world.call('documents/fault', { mode: 'none' });
      await act(user, 'sign');
    }
    expect(await outcome(user)).toEqual([200, 'SENT']);
    expect(await statuses(user)).toEqual(['COMPLETED', 'SENT']);
  },
);

test('a form that was resent with the current personal data is valid once signed', async () => {
  const user = await newUser();
  await post(user);
  await world.review(user.userId, { level_name: 'BasicKYCLevel', answer: 'GREEN' });
  await world.advance(61);
  expect(await outcome(user)).toEqual([200, 'SENT']);
  await act(user, 'sign');
  expect(await outcome(user)).toEqual([409, 'document_completed']);
});

test('a form signed before any personal data is void once data arrives', async () => {
  const user = await newUser();
  await post(user);
  await act(user, 'sign');
  expect(await outcome(user)).toEqual([409, 'document_completed']);
  await world.review(user.userId, { level_name: 'BasicKYCLevel', answer: 'GREEN' });
  expect(await outcome(user)).toEqual([200, 'SENT']);
});

test('personal data that changed after signing allows a new form', async () => {
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
  ...[
    'U.S',
    'U. S. A.',
    'us',
    'U.S. of A., USA',
    'United  States of America',
    'the united states',
    'Estados Unidos',
    'Estados Unidos de América',
    'EE. UU.',
    'États-Unis',
    'Etats Unis d’Amérique',
    'Vereinigte Staaten',
    'Vereinigte Staaten von Amerika',
    'Stati Uniti',
    'США',
    '美国',
    'ＵＳＡ',
    'New York, USA',
    'Germany / US',
    'Guam',
    'U.S. Virgin Islands',
    'Northern Mariana Islands',
  ].map((Country): [object] => [{ Country }]),
])('nothing is sent to a US person with %j', async (values) => {
  const user = await newUser();
  const reply = await post(user, values);
  expect([reply.statusCode, reply.json().code, reply.json().errors]).toEqual([
    422,
    'tax_form_not_applicable',
    { form: ['W-9 required'] },
  ]);
  expect([await rows(user), await mails(user)]).toEqual([[], 0]);
});

test.each([
  'Estados Unidos Mexicanos',
  'Austria',
  'Russia',
  'British Virgin Islands',
  'Cyprus',
  'Latin America',
])('%s is not the United States', async (Country) => {
  expect(await outcome(await newUser(), { Country })).toEqual([200, 'SENT']);
});

test.each([
  'https://169.254.169.254/latest/meta-data',
  ' HTTP://example.com/a.png',
  '//example.com/a.png',
  'ftp://example.com',
  'file:///etc/passwd',
  'data:image/png;base64,AAAA',
  'www.example.com',
])('a value that is a URL is refused and nothing is sent: %s', async (value) => {
  const user = await newUser();
  const reply = await post(user, { 'Full Name': 'Ada', Signature: value });
  expect([reply.statusCode, reply.json().code, reply.json().errors]).toEqual([
    422,
    'validation_failed',
    { Signature: ['must not be a URL'] },
  ]);
  expect([await rows(user), await mails(user)]).toEqual([[], 0]);
});

test.each([
  ['nationality', { nationality: 'USA' }],
  ['country', { country: 'USA' }],
  ['an identity document', { idDocs: [{ idDocType: 'PASSPORT', country: 'USA' }] }],
  ['tax residence', { taxResidenceCountry: 'PRI' }],
  ['a territory as a region', { addresses: [{ country: 'USA', state: 'Guam' }] }],
])("the identity provider's data makes a US person by %s", async (_what, info) => {
  const user = await newUser();
  const pii = { first_name: 'A', last_name: 'B', date_of_birth: '1990-01-01', address: { country: 'FR' } };
  await world.review(user.userId, { level_name: 'BasicKYCLevel', answer: 'GREEN', pii });
  expect(await outcome(user, { Country: 'France' })).toEqual([200, 'SENT']);
  await act(user, 'sign');
  await world.call('identity/info', { user_id: user.userId, info });
  await settleApplicant(world.ctx, user.userId);
  expect(await outcome(user, { Country: 'France' })).toEqual([422, 'tax_form_not_applicable']);
});

test('stored personal data also makes a US person', async () => {
  const user = await newUser();
  const pii = { first_name: 'A', last_name: 'B', date_of_birth: '1990-01-01', address: { country: 'GU' } };
  await world.review(user.userId, { level_name: 'BasicKYCLevel', answer: 'GREEN', pii });
  expect(await outcome(user, { Country: 'France' })).toEqual([422, 'tax_form_not_applicable']);
});

test('invalid bodies and unknown document types are refused', async () => {
  const user = await newUser();
  expect((await post(user, FORM, 'passport')).json().code).toBe('not_found');
  expect(await outcome(user, { DOB: 1 })).toEqual([422, 'validation_failed']);
  const many = Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`f${i}`, 'x']));
  expect(await outcome(user, many)).toEqual([422, 'validation_failed']);
  expect(await outcome(user, { Signature: '?'.repeat(100) })).toEqual([422, 'validation_failed']);
  expect(await rows(user)).toEqual([]);
  expect(await outcome(user)).toEqual([200, 'SENT']);
});

test('twelve concurrent requests send one email', async () => {
  const user = await newUser();
  const replies = await Promise.all(Array.from({ length: 12 }, () => outcome(user)));
  for (const reply of replies) expect(['200,SENT', '200,INITIALIZED']).toContain(String(reply));
  expect(await mails(user)).toBe(1);
  expect(await statuses(user)).toEqual(['SENT']);
});

/** Until the test ends, limits the wait for each reply of the provider to 1.5 s instead of 10 s. */
function waitBriefly(): void {
  const { documents } = world.ctx;
  const usual = { ...documents };
  const settings = world.providers.settings.documents;
  if (settings === null) throw new Error('no document provider');
  const brief = openDocuseal(settings, undefined, 1_500);
  Object.assign(documents, brief);
  onTestFinished(async () => {
    Object.assign(documents, usual);
    await brief.close();
  });
}

test('a response lost after the email was sent is recovered without a second email', async () => {
  waitBriefly();
  const user = await newUser();
  await world.call('documents/one-shot-fault', { fault: 'silent_after_effect' });
  expect(await outcome(user)).toEqual([200, 'SENT']);
  expect(await mails(user)).toBe(1);
});

test('a submission stays open until its lost response is recovered', async () => {
  waitBriefly();
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

test('a submission without a response expires if the provider never created it', async () => {
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

test('a lost webhook is made up for by the reconciler', async () => {
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

test('a 429 with a long Retry-After pauses the reconciler for a minute', async () => {
  const user = await newUser();
  await post(user);
  await world.ctx.db
    .updateTable('document_submissions')
    .set({ due_at: '2020-01-01T00:00:00Z' })
    .where('user_id', '=', user.userId)
    .execute();
  const read = async () => {
    throw upstreamError(
      'documents',
      failureOfStatus({
        status: 429,
        rawHeaders: [Buffer.from('retry-after'), Buffer.from('3600')],
      }) as never,
    );
  };
  const ctx = { ...world.ctx, documents: { ...world.ctx.documents, read } };
  expect(await checkNextSubmission(ctx)).toEqual({ pause: 60_000 });
});

test('a signature without a webhook is noticed by the next request', async () => {
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
  'requests fail while the provider is %s and succeed afterwards',
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
    // After a 429, the provider is not called for one second.
    let last = await outcome(user);
    while (last[0] === 503) {
      await sleep(100);
      last = await outcome(user);
    }
    expect(last).toEqual([200, 'SENT']);
    expect(await mails(user)).toBe(1);
  },
);

test('events out of order never move a form backwards', async () => {
  const user = await newUser();
  await post(user);
  await world.call('documents/delivery', { mode: 'reorder' });
  await act(user, 'view');
  await act(user, 'sign');
  await world.call('documents/delivery', { release: true });
  expect(await statuses(user)).toEqual(['COMPLETED']);
});

test('late events of an old form do not affect the new one', async () => {
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
