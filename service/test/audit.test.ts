import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eraseUser } from '../src/domain/erasure/erasure.ts';
import { holdUser, releaseUser } from '../src/domain/users/hold.ts';
import { sealAuditLog } from '../src/platform/audit/sealer.ts';
import { listSealedEntries } from '../src/platform/audit/store.ts';
import { verifyAuditLog } from '../src/platform/audit/verify.ts';
import { expectAudited } from './support/audited.ts';
import { PASSWORD, type Site, startSite } from './support/site.ts';
import { newVisitor } from './support/visitor.ts';

let site: Site;
beforeAll(async () => {
  site = await startSite();
});
afterAll(() => site.close());

type Entry = {
  action: string;
  actor: { object: string; id: string | null };
  subject: { object: string; id: string | null };
  reason: string | null;
  request_id: string | null;
};

/** Returns the entries that a request wrote. */
async function entriesOf(requestId: string): Promise<Entry[]> {
  const { rows } = await sql<{ entry: string }>`select entry from audit_entries
    where entry::jsonb ->> 'request_id' = ${requestId} order by written`.execute(site.ctx.db);
  return rows.map(({ entry }) => JSON.parse(entry));
}
const actionsOf = async (requestId: string) => (await entriesOf(requestId)).map(({ action }) => action);

test('sign-ins and failures name the request, and only failures count as failed', async () => {
  const id = await site.makeUser('ada@user.test');
  const visitor = newVisitor(site.app);
  await visitor.get('/sign-in');
  const post = (password: string, requestId: string, email = 'ada@user.test') =>
    visitor.post('/sign-in', { email, password }, { 'x-request-id': requestId });
  await post('wrong password', 'failed-sign-in');
  await post(PASSWORD, 'unknown-sign-in', 'nobody@user.test');
  await post(PASSWORD, 'good-sign-in');
  expect(await entriesOf('failed-sign-in')).toMatchObject([
    { action: 'user.sign_in_failed', subject: { object: 'user', id } },
  ]);
  expect(await entriesOf('unknown-sign-in')).toMatchObject([
    { action: 'user.sign_in_failed', subject: { object: 'user', id: null } },
  ]);
  expect(await actionsOf('good-sign-in')).toEqual(['user.signed_in']);
});

test('reads of personal data and refused calls name the request, the caller and the reason', async () => {
  const userId = await site.makeUser('grace@user.test');
  const token = await site.tokenFor({ userId });
  const call = (url: string, requestId: string, bearer = token, method: 'GET' | 'POST' = 'GET') =>
    site.app.inject({
      ...{ method, url, headers: { authorization: `Bearer ${bearer}`, 'x-request-id': requestId } },
      ...(method === 'POST' && { payload: {} }),
    });
  expect((await call('/v1/pii', 'pii-read')).statusCode).toBe(200);
  expect(await entriesOf('pii-read')).toMatchObject([
    { action: 'personal_data.read', subject: { object: 'user', id: userId } },
  ]);
  const narrow = await site.tokenFor({ userId, scopes: new Set(['offers:read']) });
  expect((await call('/v1/pii', 'scope-refused', narrow)).statusCode).toBe(403);
  await expect
    .poll(() => entriesOf('scope-refused'))
    .toMatchObject([
      {
        ...{ action: 'access.refused', reason: 'insufficient_scope', actor: { object: 'user', id: userId } },
        subject: { object: 'route', id: 'GET /v1/pii' },
      },
    ]);
  // Repeating the same refusal adds no entry; a different refusal does.
  expect((await call('/v1/pii', 'scope-refused', narrow)).statusCode).toBe(403);
  expect((await call('/v1/participations', 'other-refused', narrow)).statusCode).toBe(403);
  await expect.poll(() => entriesOf('other-refused')).toHaveLength(1);
  expect(await entriesOf('scope-refused')).toHaveLength(1);
  await holdUser(site.ctx, userId, 'Grace called');
  expect((await call('/v1/kyc-token', 'hold-refused', token, 'POST')).statusCode).toBe(403);
  await expect
    .poll(() => entriesOf('hold-refused'))
    .toMatchObject([{ action: 'access.refused', reason: 'account_restricted' }]);
  await site.ctx.db.transaction().execute((tx) => releaseUser(site.ctx, tx, userId, 'Grace is fine'));
});

test('webhook endpoints name the client and the request that changed them', async () => {
  const token = await site.tokenFor({ userId: null });
  const reply = await site.app.inject({
    ...{ method: 'POST', url: '/v1/webhook-endpoints' },
    payload: { url: 'https://93.184.215.14/hooks', types: ['*'] },
    headers: { authorization: `Bearer ${token}`, 'x-request-id': "quote'd" },
  });
  expect(reply.statusCode).toBe(200);
  expect(await entriesOf(String(reply.headers['x-request-id']))).toMatchObject([
    {
      ...{ action: 'webhook_endpoint.insert', actor: { object: 'client', id: 'partner-one' } },
      subject: { object: 'webhook_endpoint', id: reply.json().id },
    },
  ]);
});

test('a consent names the user, the app and the request, also when it is denied', async () => {
  const userId = await site.makeUser('joan@user.test');
  const visitor = newVisitor(site.app);
  const decide = async (decision: string) => {
    const page = await visitor.open(site.authorizeUrl({ prompt: 'consent' }).url.slice(site.url.length));
    const path = /action="(\/interaction\/[^"]+)"/.exec(page.body)?.[1] ?? '';
    await visitor.post(path, { decision }, { 'x-request-id': `consent-${decision}` });
    return entriesOf(`consent-${decision}`);
  };
  await visitor.get('/sign-in');
  await visitor.post('/sign-in', { email: 'joan@user.test', password: PASSWORD });
  expect(await decide('deny')).toMatchObject([
    { action: 'consent.denied', subject: { object: 'client', id: 'harbour' } },
  ]);
  const given = { actor: { object: 'user', id: userId }, subject: { object: 'client', id: 'harbour' } };
  expect(await decide('allow')).toMatchObject([
    { action: 'consent.allowed', ...given },
    { action: 'consent.given', ...given },
  ]);

  // Signing in with another browser needs no new consent. Disconnecting the app on the account page then ends
  // the consent.
  const other = newVisitor(site.app);
  await other.get('/sign-in');
  await other.post('/sign-in', { email: 'joan@user.test', password: PASSWORD });
  await other.open(site.authorizeUrl().url.slice(site.url.length));
  const { rows } = await sql<{ entry: string }>`select entry from audit_entries
    where entry::jsonb ->> 'action' = 'consent.reused'`.execute(site.ctx.db);
  expect(rows.map(({ entry }) => JSON.parse(entry))).toMatchObject([
    { ...given, request_id: expect.any(String) },
  ]);
  await visitor.get('/account');
  const headers = { 'x-request-id': 'consent-ended' };
  await visitor.post('/account/disconnect', { client_id: 'harbour' }, headers);
  expect(await entriesOf('consent-ended')).toMatchObject([
    { action: 'consent.ended', ...given },
    { action: 'consent.ended', ...given },
  ]);
});

test('erasing a user changes no entry, and the log still verifies', async () => {
  const read = () => listSealedEntries(site.ctx.db, 0, 10_000);
  await sealAuditLog(site.ctx, 0);
  const before = await read();
  await eraseUser(site.ctx, 'grace@user.test', 'requested');
  await sealAuditLog(site.ctx, 0);
  expect((await read()).slice(0, before.length)).toEqual(before);
  expect(await verifyAuditLog(site.ctx)).toMatchObject({ problem: null });
});

test('no entry has personal data', async () => {
  await expectAudited(
    site.ctx,
    'user.signed_in',
    'user.sign_in_failed',
    'personal_data.read',
    'access.refused',
  );
  await expectAudited(
    site.ctx,
    'consent.allowed',
    'consent.denied',
    'consent.given',
    'consent.reused',
    'consent.ended',
  );
  await expectAudited(site.ctx, 'webhook_endpoint.insert');
  const { rows } = await sql<{ entry: string }>`select entry from audit_entries`.execute(site.ctx.db);
  expect(rows.map(({ entry }) => entry).join('\n')).not.toMatch(/@|Grace|called|fine/);
});
