import { createHmac } from 'node:crypto';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { settleApplicant } from '../src/domain/identity/reconcile.ts';
import { startWorld, type World } from './support/providers.ts';

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

/** Returns everything about the user that webhooks can change. */
const snapshot = async () => {
  const tables = ['identity_reviews', 'identity_applicants', 'pii', 'document_submissions'];
  const read = (table: string) =>
    sql`select t::text from ${sql.table(table)} t where user_id = ${userId} order by 1`.execute(world.ctx.db);
  return JSON.stringify(await Promise.all(tables.map(async (table) => (await read(table)).rows)));
};

const identitySecret = () => world.ctx.config.identity?.webhookSecrets[0] ?? '';
const digest = (body: string | Buffer, algorithm = 'sha256', secret = identitySecret()) =>
  createHmac(algorithm, secret).update(body).digest('hex');
const send = (path: string, body: string | Buffer, headers: Record<string, string> = {}) =>
  fetch(`${world.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : new Uint8Array(body),
  });
const statusAndCode = async (reply: Response) => [
  reply.status,
  ((await reply.json()) as { code?: string }).code,
];

const greenEvent = (overrides: object = {}) =>
  JSON.stringify({
    type: 'applicantReviewed',
    applicantId: 'aaaaaaaaaaaaaaaaaaaaaaaa',
    correlationId: 'c1',
    externalUserId: userId,
    levelName: level_name,
    applicantType: 'individual',
    sandboxMode: true,
    reviewStatus: 'completed',
    reviewResult: { reviewAnswer: 'GREEN' },
    createdAtMs: '2026-03-02 12:00:00.000',
    ...overrides,
  });
const sendSigned = (body: string) => send('/webhooks/identity', body, { 'x-payload-digest': digest(body) });
const review = async () =>
  world.ctx.db
    .selectFrom('identity_reviews')
    .select(['review_status', 'answer', 'reject_type'])
    .where('user_id', '=', userId)
    .where('level_name', '=', level_name)
    .executeTakeFirst();

describe('identity webhooks', () => {
  test.each([
    ['no signature', (body: string) => send('/webhooks/identity', body)],
    [
      'a signature with the wrong secret',
      (body: string) =>
        send('/webhooks/identity', body, { 'x-payload-digest': digest(body, 'sha256', 'guess') }),
    ],
    [
      'the API secret instead of the webhook secret',
      (body: string) =>
        send('/webhooks/identity', body, {
          'x-payload-digest': digest(body, 'sha256', world.ctx.config.identity?.secret),
        }),
    ],
    [
      'the signature of a different body',
      (body: string) => send('/webhooks/identity', body, { 'x-payload-digest': digest(`${body} `) }),
    ],
    [
      'SHA-1',
      (body: string) =>
        send('/webhooks/identity', body, {
          'x-payload-digest': digest(body, 'sha1'),
          'x-payload-digest-alg': 'HMAC_SHA1_HEX',
        }),
    ],
    [
      'an unknown algorithm',
      (body: string) =>
        send('/webhooks/identity', body, {
          'x-payload-digest': digest(body),
          'x-payload-digest-alg': 'none',
        }),
    ],
    ['no body', () => send('/webhooks/identity', '')],
  ])('%s: 401, nothing changes', async (_name, forge) => {
    const before = await snapshot();
    expect(await statusAndCode(await forge(greenEvent()))).toEqual([401, 'unauthorized']);
    expect(await snapshot()).toBe(before);
  });

  test('a 5 MB body and a wrong content type are rejected', async () => {
    const before = await snapshot();
    const big = Buffer.alloc(5_000_000, 'x');
    expect(
      await statusAndCode(await send('/webhooks/identity', big, { 'x-payload-digest': digest(big) })),
    ).toEqual([413, 'payload_too_large']);
    const text = await send('/webhooks/identity', greenEvent(), { 'content-type': 'text/plain' });
    expect(await statusAndCode(text)).toEqual([415, 'unsupported_media_type']);
    expect(await snapshot()).toBe(before);
  });

  test('an unfinished request body does not block other requests', async () => {
    const before = await snapshot();
    const { hostname, port } = new URL(world.url);
    const slow = connect(Number(port), hostname);
    slow.write(
      'POST /webhooks/identity HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{"type"',
    );
    await world.review(userId, { level_name, answer: 'GREEN' });
    expect(await review()).toMatchObject({ answer: 'GREEN' });
    slow.destroy();
    expect(await snapshot()).not.toBe(before);
  });

  test('events for unknown users, foreign ids and test mode are accepted and change nothing', async () => {
    const before = await snapshot();
    for (const body of [
      greenEvent({ externalUserId: '01890000-0000-7000-8000-ffffffffffff' }),
      greenEvent({ externalUserId: 'customer-42' }),
      greenEvent({ externalUserId: undefined }),
      greenEvent({ testMode: true }),
      greenEvent({ type: 'applicantActionReviewed' }),
      greenEvent({ type: 'constructor' }),
    ])
      expect((await sendSigned(body)).status).toBe(200);
    expect(await snapshot()).toBe(before);
  });

  test('a sandbox event changes nothing in production', async () => {
    const identity = { ...world.ctx.identity, isSandbox: false };
    const production = { ...world.ctx, identity };
    const before = await snapshot();
    const { receiveIdentityEvent } = await import('../src/domain/identity/webhook.ts');
    const body = greenEvent();
    await receiveIdentityEvent(production, { 'x-payload-digest': digest(body) }, Buffer.from(body));
    expect(await snapshot()).toBe(before);
  });

  test('verdicts on a beneficiary or on another applicant do not apply to the company', async () => {
    await world.ctx.db.updateTable('users').set({ kind: 'company' }).where('id', '=', userId).execute();
    const company = { level_name, kind: 'company', review_status: 'pending' } as const;
    await world.review(userId, company);
    const member = { applicantMemberOf: [{ applicantId: 'x' }], applicantId: 'bbbbbbbbbbbbbbbbbbbbbbbb' };
    await sendSigned(greenEvent({ ...member, createdAtMs: '2026-03-02 12:00:01.000' }));
    await sendSigned(
      greenEvent({ applicantId: 'cccccccccccccccccccccccc', createdAtMs: '2026-03-02 12:00:02.000' }),
    );
    await settleApplicant(world.ctx, userId);
    expect(await review()).toMatchObject({ review_status: 'pending', answer: null });
  });

  test('an event cannot turn a person into a company', async () => {
    await sendSigned(greenEvent({ applicantType: 'company' }));
    expect(await review()).toBeUndefined();
  });

  test('ten concurrent copies of an event count once, and the provider’s current verdict wins', async () => {
    await world.review(userId, { level_name, answer: 'GREEN' });
    const applicant = await world.ctx.db
      .selectFrom('identity_applicants')
      .selectAll()
      .where('user_id', '=', userId)
      .executeTakeFirstOrThrow();
    const redEvent = greenEvent({
      applicantId: applicant.applicant_id,
      reviewResult: { reviewAnswer: 'RED', reviewRejectType: 'RETRY' },
    });
    const receipts = async () =>
      (await world.ctx.db.selectFrom('webhook_receipts').select('key').execute()).length;
    const before = await receipts();
    await Promise.all(Array.from({ length: 10 }, () => sendSigned(redEvent)));
    expect(await receipts()).toBe(before + 1);
    await settleApplicant(world.ctx, userId);
    // Reconciliation reads the provider's current verdict, which replaces the one in the event.
    expect(await review()).toMatchObject({ answer: 'GREEN' });
  });

  test('duplicate, reordered and corrupted deliveries end in the same state', async () => {
    const approve = async () => {
      await world.call('identity/review', {
        user_id: userId,
        kind: 'person',
        email: 'a@b.c',
        level_name,
        review_status: 'pending',
      });
      await world.advance(1);
      await world.call('identity/review', {
        user_id: userId,
        kind: 'person',
        email: 'a@b.c',
        level_name,
        answer: 'GREEN',
      });
    };
    for (const mode of ['duplicate', 'reorder'] as const) {
      await world.call('identity/delivery', { mode });
      await approve();
      await world.call('identity/delivery', { release: true });
      await settleApplicant(world.ctx, userId);
      expect(await review()).toMatchObject({ review_status: 'completed', answer: 'GREEN' });
    }
    await world.call('identity/delivery', { mode: 'corrupt' });
    await world.advance(1);
    await world.call('identity/review', {
      user_id: userId,
      kind: 'person',
      email: 'a@b.c',
      level_name,
      answer: 'RED',
      reject_type: 'FINAL',
    });
    await settleApplicant(world.ctx, userId);
    expect(await review()).toMatchObject({ answer: 'GREEN' });
    await world.call('identity/delivery', { mode: 'normal' });
    // The provider retries deliveries that were not accepted.
    while ((await review())?.reject_type !== 'FINAL') await sleep(20);
  });

  test('a reset overrides the stale verdict that is delivered with it', async () => {
    await world.review(userId, { level_name, answer: 'GREEN' });
    await world.call('identity/delivery', { stale_verdicts: true });
    await world.advance(1);
    await world.review(userId, { level_name, review_status: 'init' });
    expect(await review()).toEqual({ review_status: 'init', answer: null, reject_type: null });
    await world.call('identity/delivery', { stale_verdicts: false });
  });
});

describe('document webhooks', () => {
  const submit = () =>
    world.app.inject({
      method: 'POST',
      url: '/v1/documents/tax_certification/submission',
      headers: { authorization: `Bearer ${token}` },
      payload: { 'Full Name': 'Ada' },
    });
  const completed = async () => {
    const { id } = await world.ctx.db
      .selectFrom('document_submissions')
      .select('id')
      .where('user_id', '=', userId)
      .executeTakeFirstOrThrow();
    return JSON.stringify({
      event_type: 'form.completed',
      timestamp: '2026-03-02T12:00:00.000Z',
      data: { id: 1, external_id: id, completed_at: '2026-03-02T12:00:00.000Z' },
    });
  };
  const sign = (body: string, secret: string, seconds: number) => ({
    'x-docuseal-signature': `${seconds}.${createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')}`,
  });
  const secret = () => world.ctx.config.documents?.webhookSecrets[0] ?? '';
  const now = () => Math.floor(Date.now() / 1000);

  test('unsigned, wrongly signed, expired and oversized events are rejected and change nothing', async () => {
    await submit();
    const body = await completed();
    const before = await snapshot();
    for (const headers of [
      {},
      sign(body, 'whsec_guess', now()),
      sign(`${body} `, secret(), now()),
      sign(body, secret(), now() - 301),
      sign(body, secret(), now() + 400),
    ])
      expect(
        await statusAndCode(await send('/webhooks/documents', body, headers as Record<string, string>)),
      ).toEqual([401, 'unauthorized']);
    const big = 'x'.repeat(5_000_000);
    expect(await statusAndCode(await send('/webhooks/documents', big, sign(big, secret(), now())))).toEqual([
      413,
      'payload_too_large',
    ]);
    expect(await snapshot()).toBe(before);
  });

  test('a valid event about an unknown submission changes nothing', async () => {
    await submit();
    const before = await snapshot();
    for (const event of [
      {
        event_type: 'form.completed',
        timestamp: '2026-03-02T12:00:00Z',
        data: { id: 1, submission_id: 987_654 },
      },
      { event_type: 'form.completed', timestamp: '2026-03-02T12:00:00Z', data: { external_id: userId } },
      { event_type: 'template.created', timestamp: '2026-03-02T12:00:00Z', data: { id: 1 } },
    ]) {
      const body = JSON.stringify(event);
      expect((await send('/webhooks/documents', body, sign(body, secret(), now()))).status).toBe(200);
    }
    expect(await snapshot()).toBe(before);
  });
});
