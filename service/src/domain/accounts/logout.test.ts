import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestApp, testApp } from '../../../test/support/app.ts';
import { makeClient } from '../../../test/support/tokens.ts';
import { newVisitor, type Visitor } from '../../../test/support/visitor.ts';
import { newId } from '../../kernel/ids.ts';
import { issueUserTokens } from '../oauth/issue.ts';
import { setLogoutRedirects } from '../partners/partner.ts';
import { insertUser } from '../users/store.ts';
import { hashPassword } from './password.ts';

const PASSWORD = 'quiet harbour lantern';
const GOODBYE = 'https://app.partner.test/goodbye';

let node: TestApp;
let users: { ada: string; eve: string };
beforeAll(async () => {
  node = await testApp();
  await makeClient(node.ctx);
  await makeClient(node.ctx, { clientId: 'partner-two' });
  await setLogoutRedirects(node.ctx, 'partner-one', [GOODBYE, 'https://app.partner.test/?from=causeway']);
  users = { ada: await makeUser('ada@user.test'), eve: await makeUser('eve@user.test') };
});
afterAll(() => node.close());

async function makeUser(email: string): Promise<string> {
  const { ctx } = node;
  const id = newId(ctx.clock, ctx.random);
  await insertUser(ctx.db, {
    id,
    email,
    kind: 'person',
    password_hash: await hashPassword(ctx, PASSWORD),
  });
  return id;
}

async function signedIn(): Promise<Visitor> {
  const visitor = newVisitor(node.app);
  await visitor.get('/sign-in');
  await visitor.post('/sign-in', { email: 'ada@user.test', password: PASSWORD });
  expect(await isSignedIn(visitor)).toBe(true);
  return visitor;
}

const isSignedIn = async (visitor: Visitor) => (await visitor.get('/account')).statusCode === 200;
const logout = (params: Record<string, string>) => `/oauth/logout?${new URLSearchParams(params)}`;
const idTokenOf = async (userId: string, clientId = 'partner-one') =>
  String((await issueUserTokens(node.ctx, { clientId, userId, scopes: ['openid'] })).id_token);

test('discovery names the endpoint', async () => {
  for (const document of ['openid-configuration', 'oauth-authorization-server']) {
    const reply = await node.app.inject(`/.well-known/${document}`);
    expect(reply.json().end_session_endpoint).toBe('http://causeway.test/oauth/logout');
  }
});

test('an ID token of the signed-in user ends the session immediately and returns with the state', async () => {
  const visitor = await signedIn();
  const cookie = visitor.cookie();
  const reply = await visitor.get(
    logout({
      id_token_hint: await idTokenOf(users.ada),
      post_logout_redirect_uri: GOODBYE,
      state: 'a b&c',
    }),
  );
  expect([reply.statusCode, reply.headers.location]).toEqual([303, `${GOODBYE}?state=a+b%26c`]);
  expect(await isSignedIn(visitor)).toBe(false);
  // The old cookie is invalid on the server, not just replaced in this browser.
  visitor.setCookie(String(cookie));
  expect(await isSignedIn(visitor)).toBe(false);
});

test.each([
  ['no ID token', async () => ({ client_id: 'partner-one' })],
  ['an ID token of another user', async () => ({ id_token_hint: await idTokenOf(users.eve) })],
])('with %s the user decides, and a forged confirmation changes nothing', async (_name, params) => {
  const visitor = await signedIn();
  const page = await visitor.get(
    logout({ ...(await params()), post_logout_redirect_uri: GOODBYE, state: 's1' }),
  );
  expect(page.statusCode).toBe(200);
  expect(page.body).toContain('Sign out of Causeway?');
  expect(page.headers['content-security-policy']).toContain('form-action');
  expect(await isSignedIn(visitor)).toBe(true);

  const fields = { client_id: 'partner-one', post_logout_redirect_uri: GOODBYE, state: 's1' };
  for (const [forged, headers] of [
    [{ ...fields, csrf: 'forged' }, {}],
    [fields, { origin: 'https://evil.test' }],
  ] as const)
    expect((await visitor.post('/oauth/logout/confirm', forged, headers)).statusCode).toBe(403);
  const elsewhere = { ...fields, post_logout_redirect_uri: 'https://evil.test/' };
  expect((await visitor.post('/oauth/logout/confirm', elsewhere)).statusCode).toBe(400);
  expect(await isSignedIn(visitor)).toBe(true);

  const reply = await visitor.post('/oauth/logout/confirm', fields);
  expect([reply.statusCode, reply.headers.location]).toEqual([303, `${GOODBYE}?state=s1`]);
  expect(await isSignedIn(visitor)).toBe(false);
});

test('a browser that is not signed in returns to the app, or sees a page without a redirect', async () => {
  const query = { client_id: 'partner-one' };
  const redirect = 'https://app.partner.test/?from=causeway';
  const back = await newVisitor(node.app).get(
    logout({ ...query, post_logout_redirect_uri: redirect, state: 'x' }),
  );
  expect(back.headers.location).toBe(`${redirect}&state=x`);
  const page = await newVisitor(node.app).get(logout({ state: '' }));
  expect([page.statusCode, page.headers.location]).toEqual([200, undefined]);
  expect(page.body).toContain('signed out');
});

test('only exactly registered redirects of the client are used, and nothing else ends a session', async () => {
  const visitor = await signedIn();
  const id_token_hint = await idTokenOf(users.ada);
  const [header = '', payload = '', signature = ''] = id_token_hint.split('.');
  const otherClient = Buffer.from(
    JSON.stringify({ ...JSON.parse(Buffer.from(payload, 'base64url').toString()), sub: users.eve }),
  ).toString('base64url');
  const none = Buffer.from('{"alg":"none"}').toString('base64url');
  const refused: Record<string, string>[] = [
    ...[
      'https://evil.test/',
      `${GOODBYE}/`,
      `${GOODBYE}?a=b`,
      'https://app.partner.test/goodbye#x',
      'https://app.partner.test@evil.test/goodbye',
      'http://localhost:*',
      'http://localhost:3000/',
      'javascript:alert(1)',
      '//evil.test',
    ].map((post_logout_redirect_uri) => ({ id_token_hint, post_logout_redirect_uri })),
    { post_logout_redirect_uri: GOODBYE },
    { client_id: 'unknown', post_logout_redirect_uri: GOODBYE },
    { client_id: 'partner-two', post_logout_redirect_uri: GOODBYE },
    { client_id: 'partner-two', id_token_hint, post_logout_redirect_uri: GOODBYE },
    { id_token_hint: 'nonsense' },
    { id_token_hint: `${header}.${otherClient}.${signature}` },
    { id_token_hint: `${none}.${payload}.` },
    { id_token_hint: `${header}.bnVsbA.${signature}` },
  ];
  for (const params of refused) {
    const page = await visitor.get(logout(params));
    expect([page.statusCode, page.headers.location, params]).toEqual([400, undefined, params]);
    const reply = await node.app.inject({ url: logout(params), headers: { accept: 'application/json' } });
    expect(reply.statusCode).toBe(400);
    expect(reply.json()).toMatchObject({ error: 'invalid_request', code: 'malformed_request' });
  }
  const repeated = `/oauth/logout?client_id=partner-one&post_logout_redirect_uri=${GOODBYE}&post_logout_redirect_uri=${GOODBYE}`;
  expect((await visitor.get(repeated)).statusCode).toBe(400);
  expect(await isSignedIn(visitor)).toBe(true);
});

test('an ID token with a NUL character is refused like any other forged one', async () => {
  const payload = Buffer.from(JSON.stringify({ aud: 'a\0b' })).toString('base64url');
  const reply = await newVisitor(node.app).get(logout({ id_token_hint: `e30.${payload}.x` }));
  expect(reply.statusCode).toBe(400);
});

test('a posted request continues as GET, so that browsers send the cookie', async () => {
  const payload = new URLSearchParams({ client_id: 'partner-one', state: 'x y' }).toString();
  const reply = await node.app.inject({
    method: 'POST',
    url: '/oauth/logout',
    headers: { 'content-type': 'application/x-www-form-urlencoded', origin: 'https://app.partner.test' },
    payload,
  });
  expect([reply.statusCode, reply.headers.location]).toEqual([303, `/oauth/logout?${payload}`]);
});

test('a posted request with members that are not text is treated like one without them', async () => {
  const post = (payload: object) => node.app.inject({ method: 'POST', url: '/oauth/logout', payload });
  for (const payload of [[1], { state: 1 }, { state: ['a'] }])
    expect((await post(payload)).headers.location).toBe('/oauth/logout?');
});
