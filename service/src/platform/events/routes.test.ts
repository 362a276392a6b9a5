import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type TestApp, testApp } from '../../../test/support/app.ts';
import { makeUser, partnerOf, USER } from '../../../test/support/tokens.ts';
import { setScopes } from '../../domain/partners/partner.ts';
import { SCOPES } from '../../kernel/access.ts';
import { appendEvents, type NewEvent } from './event.ts';
import { deleteExpiredEvents } from './log.ts';
import { listEventReaders } from './store.ts';

const PARTNER = partnerOf('partner-one');
const OTHER_USER = '01890000-0000-7000-8000-0000000000bb';
const UNKNOWN = '01890000-0000-7000-8000-00000000dead';
let app: TestApp;
let partner: string;
let user: string;

beforeAll(async () => {
  app = await testApp();
  user = await app.tokenFor();
  partner = await app.tokenFor({ userId: null });
  await makeUser(app.ctx, OTHER_USER);
});
afterAll(() => app.close());
beforeEach(async () => {
  await sql`truncate events, partner_sequences, expired_events`.execute(app.ctx.db);
});

type Shown = Record<string, unknown> & { id: string; type: string; sequence: number };

async function get(path: string, token = partner) {
  const reply = await app.app.inject({ url: path, headers: { authorization: `Bearer ${token}` } });
  return { status: reply.statusCode, body: reply.json() };
}

async function list(query: string, token = partner): Promise<Shown[]> {
  const { status, body } = await get(`/v1/events?${query}`, token);
  expect([status, body.code]).toEqual([200, undefined]);
  return body.data;
}

const about = (n: number, event: Partial<NewEvent> = {}): NewEvent => ({
  ...{ partnerId: PARTNER, userId: USER, type: 'participation.pending' },
  data: { object: 'participation', id: `thing-${n}`, status: 'pending' },
  ...event,
});

const append = (events: NewEvent[], source = app.ctx) => appendEvents(source, app.ctx.db, events);

const filter = (field: string, op: string, value: string, i = 0) =>
  `filters[${i}][field]=${field}&filters[${i}][op]=${encodeURIComponent(op)}&filters[${i}][value]=${value}`;

describe('the list', () => {
  test('shows an event exactly as the contract says', async () => {
    await append(
      [
        about(1, {
          changes: { status: 'prepared' },
          related: { object: 'participation', id: '1', path: '/p/1' },
        }),
      ],
      { ...app.ctx, requestId: 'request-1', requestPartnerId: about(1).partnerId },
    );
    const [event] = await list('');
    expect(event).toEqual({
      object: 'event',
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      type: 'participation.pending',
      timestamp: expect.stringMatching(/^2026-03-02T12:00:00\.\d{6}Z$/),
      sequence: 1,
      user_id: USER,
      request_id: 'request-1',
      data: { object: 'participation', id: 'thing-1', status: 'pending' },
      changes: { status: 'prepared' },
      related: { object: 'participation', id: '1', path: '/p/1' },
    });
    expect((await get(`/v1/events/${event?.id}`)).body).toEqual(event);
  });

  test('does not name the request of another partner', async () => {
    await append([about(1)], { ...app.ctx, requestId: 'r', requestPartnerId: partnerOf('partner-two') });
    expect((await list('')).map(({ request_id }) => request_id)).toEqual([null]);
  });

  test('is newest first with cursors both ways, and forward from an event, oldest first', async () => {
    await append(Array.from({ length: 25 }, (_, n) => about(n)));
    const first = (await get('/v1/events?limit=10')).body;
    expect(first.data.map((event: Shown) => event.sequence)).toEqual([
      25, 24, 23, 22, 21, 20, 19, 18, 17, 16,
    ]);
    const second = (await get(`/v1/events?limit=10&starting_after=${first.starting_after}`)).body;
    expect(second.data[0].sequence).toBe(15);
    const back = (await get(`/v1/events?limit=10&starting_before=${second.starting_before}`)).body;
    expect(back.data).toEqual(first.data);
    const forward = await list(`after=${second.data[0].id}&limit=3`);
    expect(forward.map(({ sequence }) => sequence)).toEqual([16, 17, 18]);
    expect(await list(`after=${first.data[0].id}`)).toEqual([]);
    const both = await get(`/v1/events?after=${first.data[0].id}&starting_after=${first.starting_after}`);
    expect([both.status, both.body.code]).toEqual([422, 'validation_failed']);
  });

  test('refuses an unknown, malformed or foreign event to read on from', async () => {
    await append([about(1, { partnerId: partnerOf('partner-two') }), about(2, { userId: OTHER_USER })]);
    const foreign = await list('', await app.tokenFor({ clientId: 'partner-two', userId: null }));
    const others = await list('');
    for (const [id, token] of [
      [UNKNOWN, partner],
      ['x', partner],
      [foreign[0]?.id, partner],
      [others[0]?.id, user],
    ]) {
      const { status, body } = await get(`/v1/events?after=${id}`, token);
      expect([status, body.code, body.errors.after]).toEqual([
        422,
        'validation_failed',
        ['is not the id of an event'],
      ]);
    }
    for (const id of [UNKNOWN, 'x', foreign[0]?.id]) expect((await get(`/v1/events/${id}`)).status).toBe(404);
    expect((await get(`/v1/events/${others[0]?.id}`, user)).status).toBe(404);
  });

  test('shows users their own events and partners all of theirs', async () => {
    await append([
      about(1),
      about(2, { userId: null, type: 'offer.published' }),
      about(3, { partnerId: partnerOf('partner-two') }),
    ]);
    expect((await list('', user)).map(({ data }) => data)).toEqual([about(1).data]);
    expect((await list('')).map(({ sequence }) => sequence)).toEqual([2, 1]);
  });

  test('filters by type, user and subject', async () => {
    await append([
      about(1),
      about(2, { type: 'participation.completed' }),
      about(3, { userId: null, type: 'offer.ended' }),
    ]);
    const numbers = async (query: string) => (await list(query)).map(({ sequence }) => sequence);
    expect(await numbers(filter('type', '==', 'participation.pending'))).toEqual([1]);
    expect(await numbers(filter('type', 'in', 'participation.pending,offer.ended'))).toEqual([3, 1]);
    expect(await numbers(filter('type', '!=', 'offer.ended'))).toEqual([2, 1]);
    expect(await numbers(filter('user_id', '==', USER))).toEqual([2, 1]);
    expect(await numbers(filter('user_id', '!=', USER))).toEqual([3]);
    expect(await numbers(filter('user_id', '==', 'x'))).toEqual([]);
    expect(await numbers(filter('subject_id', '==', 'thing-2'))).toEqual([2]);
    expect(
      await numbers(`${filter('subject_id', '==', 'thing-2')}&${filter('user_id', '==', USER, 1)}`),
    ).toEqual([2]);
    expect((await get(`/v1/events?${filter('data', '==', 'x')}`)).status).toBe(422);
  });
});

describe('an event about a user', () => {
  const redacted = (event: Shown | undefined) => ({
    ...{
      object: 'event',
      id: event?.id,
      type: 'redacted',
      timestamp: event?.timestamp,
      sequence: event?.sequence,
    },
    ...{ user_id: null, request_id: null, data: {} },
  });

  test.each([
    ['participation.pending', 'participations:read'],
    ['requirement.status_changed', 'requirements:read'],
    ['wallet.bound', 'wallets:read'],
    ['tokenized_swap.issued', 'swaps:read'],
    ['document_submission.sent', 'documents:write'],
  ])('%s needs %s in the grant of the user', async (type, scope) => {
    const userId = await makeUser(app.ctx, OTHER_USER);
    await app.tokenFor({
      clientId: 'partner-three',
      userId,
      scopes: new Set(['events:read', 'offers:read']),
    });
    const token = await app.tokenFor({ clientId: 'partner-three', userId: null });
    await append([about(1, { partnerId: partnerOf('partner-three'), userId, type, changes: {} })], {
      ...app.ctx,
      requestId: 'r',
      requestPartnerId: partnerOf('partner-three'),
    });
    const [hidden] = await list('', token);
    expect(hidden).toEqual(redacted(hidden));
    expect((await get(`/v1/events/${hidden?.id}`, token)).body).toEqual(hidden);
    for (const query of [
      filter('type', '==', type),
      filter('user_id', '==', userId),
      filter('subject_id', '==', 'thing-1'),
    ])
      expect(await list(query, token)).toEqual([]);
    expect(await list(filter('type', '==', 'redacted'), token)).toEqual([hidden]);
    expect(await list(filter('user_id', '!=', userId), token)).toEqual([hidden]);
    await app.tokenFor({ clientId: 'partner-three', userId, scopes: new Set([scope]) });
    expect((await list('', token))[0]?.type).toBe(type);
    await sql`update oauth_grants set revoked_at = now() where client_id = 'partner-three'`.execute(
      app.ctx.db,
    );
    expect(await list('', token)).toEqual([hidden]);
  });

  test('is hidden once the partner loses the scope, and stays so until the user consents again', async () => {
    const clientId = 'partner-four';
    const all = Object.keys(SCOPES);
    const consent = () => app.tokenFor({ clientId, userId: OTHER_USER, scopes: new Set(['wallets:read']) });
    await consent();
    const token = await app.tokenFor({ clientId, userId: null });
    await append([about(1, { partnerId: partnerOf(clientId), userId: OTHER_USER, type: 'wallet.bound' })]);
    const [shown] = await list('', token);
    expect(shown?.type).toBe('wallet.bound');
    const expectHidden = async () => {
      expect(await list('', token)).toEqual([redacted(shown)]);
      expect((await get(`/v1/events/${shown?.id}`, token)).body).toEqual(redacted(shown));
      expect(await list(filter('user_id', '==', OTHER_USER), token)).toEqual([]);
      expect(await listEventReaders(app.ctx.db, OTHER_USER, 'wallet.bound')).not.toContain(
        partnerOf(clientId),
      );
    };
    await setScopes(
      app.ctx,
      clientId,
      all.filter((scope) => scope !== 'wallets:read'),
    );
    await expectHidden();
    await setScopes(app.ctx, clientId, all);
    await expectHidden();
    await consent();
    expect(await list('', token)).toEqual([shown]);
  });
});

describe('retention', () => {
  test('reading on from an expired event gives 410 with the oldest event that has not, before and after its deletion', async () => {
    await append([about(1), about(2)]);
    const [second, first] = await list('');
    app.clock.advance(91 * 86_400);
    await append([about(3)]);
    const [third] = await list('');
    const expectExpired = async (after: unknown, token: string) => {
      const { status, body } = await get(`/v1/events?after=${after}`, token);
      expect([status, body.code, body.errors]).toEqual([410, 'events_expired', { oldest: third?.id }]);
    };
    for (const event of [first, second]) await expectExpired(event?.id, partner);
    await deleteExpiredEvents(app.ctx);
    expect(await list('')).toEqual([third]);
    expect(third?.sequence).toBe(3);
    for (const event of [first, second])
      for (const token of [partner, await app.tokenFor()]) {
        await expectExpired(event?.id, token);
      }
    const stranger = await app.tokenFor({ clientId: 'partner-two', userId: null });
    expect((await get(`/v1/events?after=${first?.id}`, stranger)).status).toBe(422);
    await append([about(4)]);
    expect((await list(''))[0]?.sequence).toBe(4);
  });

  test('deletes no event behind a younger one, so that no gap appears', async () => {
    const { db } = app.ctx;
    await append([about(1), about(2), about(3)]);
    await list('');
    const old = new Date(app.clock.now() - 100 * 86_400_000).toISOString();
    await sql`update events set inserted_at = ${old} where sequence <> 2`.execute(db);
    await deleteExpiredEvents(app.ctx);
    expect((await list('')).map(({ sequence }) => sequence)).toEqual([3, 2]);
  });
});
