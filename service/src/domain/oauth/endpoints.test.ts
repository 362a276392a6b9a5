import type { InjectOptions } from 'fastify';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type TestApp, testApp, testConfig } from '../../../test/support/app.ts';
import {
  authorizeUrl,
  decideAs,
  newBrowser,
  newPkce,
  obtainCode,
  postToken,
} from '../../../test/support/browser.ts';
import { makeClient, makeUser, REDIRECT, type TestClient, USER } from '../../../test/support/tokens.ts';
import { isUserScope, PARTNER_SCOPES, SCOPES } from '../../kernel/access.ts';
import { setScopes } from '../partners/partner.ts';
import { rotateSigningKey } from './keys.ts';

let node: TestApp;
let client: TestClient;
let decision: 'deny' | { user: string } = { user: USER };
beforeAll(async () => {
  node = await testApp({ pages: false, plugins: [decideAs(() => decision)] });
  client = await makeClient(node.ctx, { origins: ['https://app.partner.test'] });
  await makeUser(node.ctx);
});
afterAll(() => node.close());

const FORM = 'application/x-www-form-urlencoded';
const basic = ({ clientId, secret }: TestClient) =>
  `Basic ${Buffer.from(`${clientId}:${secret}`).toString('base64')}`;
const form = (params: Record<string, string>) => new URLSearchParams(params).toString();
const credentials = () => ({ client_id: client.clientId, client_secret: client.secret });

async function signIn(changes: Record<string, string | undefined> = {}, as = client) {
  const pkce = newPkce();
  const code = await obtainCode(node.app, authorizeUrl(as.clientId, pkce, changes));
  return (
    await postToken(node.app, as, { grant_type: 'authorization_code', code, code_verifier: pkce.verifier })
  ).json();
}

describe('request bodies and client credentials', () => {
  test.each<[string, () => InjectOptions]>([
    [
      'a form with credentials',
      () => ({
        payload: form({ grant_type: 'client_credentials', ...credentials() }),
        headers: { 'content-type': FORM },
      }),
    ],
    [
      'a form with HTTP Basic',
      () => ({
        payload: form({ grant_type: 'client_credentials' }),
        headers: { 'content-type': FORM, authorization: basic(client) },
      }),
    ],
    ['JSON with credentials', () => ({ payload: { grant_type: 'client_credentials', ...credentials() } })],
    [
      'JSON with HTTP Basic',
      () => ({ payload: { grant_type: 'client_credentials' }, headers: { authorization: basic(client) } }),
    ],
  ])('/oauth/token accepts %s', async (_name, options) => {
    const reply = await node.app.inject({ method: 'POST', url: '/oauth/token', ...options() });
    expect(reply.statusCode).toBe(200);
    expect(reply.json()).toEqual({
      access_token: expect.stringMatching(/^[\w-]{43}$/),
      token_type: 'Bearer',
      expires_in: 900,
      scope: PARTNER_SCOPES.join(' '),
    });
    expect(reply.headers['cache-control']).toBe('no-store');
  });

  test.each(['/oauth/revoke', '/oauth/introspect'])(
    '%s accepts JSON and forms, with credentials in the body or as HTTP Basic',
    async (url) => {
      const token = 'x'.repeat(43);
      for (const options of [
        { payload: { token, ...credentials() } },
        { payload: { token }, headers: { authorization: basic(client) } },
        { payload: form({ token, ...credentials() }), headers: { 'content-type': FORM } },
        { payload: form({ token }), headers: { 'content-type': FORM, authorization: basic(client) } },
      ])
        expect((await node.app.inject({ method: 'POST', url, ...options })).statusCode).toBe(200);
    },
  );

  test.each(['unknown', 'a.b.c', 'eyJhbGciOiJub25lIn0.e30.', ''.padEnd(500, 'x')])(
    'revoking the unknown token %j is 200',
    async (token) => {
      const reply = await node.app.inject({
        method: 'POST',
        url: '/oauth/revoke',
        payload: { token, ...credentials() },
      });
      expect([reply.statusCode, reply.json()]).toEqual([200, {}]);
    },
  );
});

describe('scopes', () => {
  test('webhooks:write is never part of a user token, and asking for it is refused', async () => {
    const { scope } = await signIn();
    expect(scope.split(' ')).toContain('events:read');
    expect(scope.split(' ')).not.toContain('webhooks:write');
    const { callback } = await newBrowser(node.app).open(
      authorizeUrl(client.clientId, newPkce(), { scope: 'openid webhooks:write' }),
    );
    expect(callback?.searchParams.get('error')).toBe('invalid_scope');
  });

  test('only a token with the scope email tells the email address', async () => {
    const introspect = async (scope: string) => {
      const { access_token } = await signIn({ scope });
      const payload = { token: access_token };
      return (await node.app.inject({ method: 'POST', url: '/oauth/introspect', payload })).json();
    };
    const without = await introspect('openid offers:read');
    expect(without).toMatchObject({ active: true, sub: USER });
    expect(without).not.toHaveProperty('username');
    expect(await introspect('openid email')).toMatchObject({ sub: USER, username: `${USER}@user.test` });
  });

  test('a token loses the scopes that its client loses', async () => {
    const other = await makeClient(node.ctx, { clientId: 'shrinking' });
    const { access_token } = await signIn({}, other);
    const scopes = async () =>
      (
        await node.app.inject({ method: 'POST', url: '/oauth/introspect', payload: { token: access_token } })
      ).json().scope;
    expect(await scopes()).toContain('pii:read');
    await setScopes(node.ctx, other.clientId, ['openid', 'offers:read']);
    await expect.poll(scopes).toBe('offers:read openid');
    await expect(setScopes(node.ctx, other.clientId, ['nonsense'])).rejects.toMatchObject({
      code: 'validation_failed',
    });
  });

  test('a grant ends after 180 days, and its tokens with it, however often they were refreshed', async () => {
    const { access_token, refresh_token } = await signIn();
    const { rows } = await sql<{ days: number }>`
      select extract(epoch from expires_at - now()) / 86400 as days from oauth_grants
      order by inserted_at desc limit 1`.execute(node.ctx.db);
    expect(Math.round(Number(rows[0]?.days))).toBe(180);
    await sql`update oauth_grants set expires_at = now()`.execute(node.ctx.db);
    node.ctx.guard.applyNotification(`client ${client.clientId}`);
    const reply = await node.app.inject({
      method: 'POST',
      url: '/oauth/introspect',
      payload: { token: access_token },
    });
    expect(reply.json()).toEqual({ active: false });
    const refreshed = await postToken(node.app, client, { grant_type: 'refresh_token', refresh_token });
    expect([refreshed.statusCode, refreshed.json().error]).toEqual([400, 'invalid_grant']);
  });
});

describe('every error has the API error object and the members of RFC 6749', () => {
  const post = (url: string, payload: InjectOptions['payload'], headers = {}): InjectOptions => ({
    method: 'POST',
    url,
    ...(payload === undefined ? {} : { payload }),
    headers,
  });
  test.each<[string, () => InjectOptions, number, string, string]>([
    [
      'a wrong secret',
      () =>
        post('/oauth/token', {
          grant_type: 'client_credentials',
          client_id: client.clientId,
          client_secret: 'no',
        }),
      401,
      'unauthorized',
      'invalid_client',
    ],
    [
      'an unknown client',
      () => post('/oauth/token', { grant_type: 'client_credentials', client_id: 'no', client_secret: 'no' }),
      401,
      'unauthorized',
      'invalid_client',
    ],
    [
      'no client credentials',
      () => post('/oauth/token', { grant_type: 'client_credentials' }),
      401,
      'unauthorized',
      'invalid_client',
    ],
    [
      'an unknown grant type',
      () => post('/oauth/token', { grant_type: 'password', ...credentials() }),
      400,
      'malformed_request',
      'unsupported_grant_type',
    ],
    ['no grant type', () => post('/oauth/token', credentials()), 400, 'malformed_request', 'invalid_request'],
    [
      'an unknown code',
      () =>
        post('/oauth/token', {
          grant_type: 'authorization_code',
          code: 'no',
          redirect_uri: REDIRECT,
          ...credentials(),
        }),
      400,
      'malformed_request',
      'invalid_grant',
    ],
    [
      'a scope that needs a user',
      () => post('/oauth/token', { grant_type: 'client_credentials', scope: 'pii:read', ...credentials() }),
      400,
      'malformed_request',
      'invalid_scope',
    ],
    [
      'bad JSON',
      () => post('/oauth/token', '{', { 'content-type': 'application/json' }),
      400,
      'malformed_request',
      'invalid_request',
    ],
    [
      'a number instead of a string',
      () => post('/oauth/token', { grant_type: 7 }),
      400,
      'malformed_request',
      'invalid_request',
    ],
    [
      'a form with a repeated field',
      () => post('/oauth/token', 'grant_type=a&grant_type=b', { 'content-type': FORM }),
      400,
      'malformed_request',
      'invalid_request',
    ],
    [
      'another content type',
      () => post('/oauth/token', '<x/>', { 'content-type': 'text/xml' }),
      415,
      'unsupported_media_type',
      'invalid_request',
    ],
    [
      'no token to revoke',
      () => post('/oauth/revoke', credentials()),
      400,
      'malformed_request',
      'invalid_request',
    ],
    [
      'revocation without credentials',
      () => post('/oauth/revoke', { token: 'x' }),
      401,
      'unauthorized',
      'invalid_client',
    ],
    [
      'revocation with a wrong secret',
      () => post('/oauth/revoke', { token: 'x', client_id: client.clientId, client_secret: 'no' }),
      401,
      'unauthorized',
      'invalid_client',
    ],
    [
      'introspection without a token',
      () => post('/oauth/introspect', {}),
      400,
      'malformed_request',
      'invalid_request',
    ],
    [
      'introspection of a number',
      () => post('/oauth/introspect', { token: 7 }),
      400,
      'malformed_request',
      'invalid_request',
    ],
    [
      'introspection with an unknown member',
      () => post('/oauth/introspect', { token: 'x', tokn: 'x' }),
      400,
      'malformed_request',
      'invalid_request',
    ],
    ['userinfo without a token', () => ({ url: '/oauth/userinfo' }), 401, 'unauthorized', 'invalid_token'],
    [
      'userinfo with a wrong token',
      () => ({ url: '/oauth/userinfo', headers: { authorization: 'Bearer no' } }),
      401,
      'unauthorized',
      'invalid_token',
    ],
    [
      'a wrong method',
      () => ({ method: 'DELETE', url: '/oauth/token' }),
      405,
      'method_not_allowed',
      'invalid_request',
    ],
    ['an unknown path', () => ({ url: '/oauth/nothing' }), 404, 'not_found', 'invalid_request'],
    [
      'an unknown client at /oauth/authorize',
      () => ({ url: '/oauth/authorize?client_id=no' }),
      400,
      'malformed_request',
      'invalid_client',
    ],
  ])('%s', async (_name, options, status, code, error) => {
    const reply = await node.app.inject(options());
    expect([reply.statusCode, reply.json().code, reply.json().error]).toEqual([status, code, error]);
    expect(reply.json()).toMatchObject({
      type: 'api_error',
      message: expect.any(String),
      errors: expect.any(Object),
      error_description: expect.any(String),
    });
    expect(reply.json().event_id).toBe(reply.headers['x-request-id']);
    expect(reply.headers['cache-control']).toBe('no-store');
    if (status === 401) expect(reply.headers['www-authenticate']).toMatch(/^(Basic|Bearer) /);
  });

  test('userinfo without the scope openid is 403', async () => {
    const { access_token } = await signIn({ scope: 'offers:read' });
    const reply = await node.app.inject({
      url: '/oauth/userinfo',
      headers: { authorization: `Bearer ${access_token}` },
    });
    expect([reply.statusCode, reply.json().code]).toEqual([403, 'insufficient_scope']);
  });

  test("the caller's request id comes back", async () => {
    const reply = await node.app.inject({
      method: 'POST',
      url: '/oauth/token',
      payload: {},
      headers: { 'x-request-id': 'mine-1' },
    });
    expect([reply.headers['x-request-id'], reply.json().event_id]).toEqual(['mine-1', 'mine-1']);
  });
});

describe('scopes', () => {
  test('omitting the scope requests all scopes of the client', async () => {
    const narrow = await makeClient(node.ctx, {
      clientId: 'narrow',
      scopes: ['openid', 'offers:read', 'pii:read'],
    });
    expect((await signIn({}, narrow)).scope.split(' ').sort()).toEqual(['offers:read', 'openid', 'pii:read']);
    expect((await signIn({})).scope.split(' ').sort()).toEqual(
      Object.keys(SCOPES).filter(isUserScope).sort(),
    );
    const partner = await postToken(node.app, narrow, {
      grant_type: 'client_credentials',
      redirect_uri: undefined,
    });
    expect(partner.json().scope).toBe('offers:read');
  });

  test('offline_access is kept without prompt=consent, and a refresh token is issued without it', async () => {
    expect((await signIn({ scope: 'openid offline_access' })).scope).toBe('openid offline_access');
    expect(await signIn({ scope: 'offers:read' })).toMatchObject({
      refresh_token: expect.any(String),
      scope: 'offers:read',
    });
  });

  test('an unregistered scope is rejected', async () => {
    const { callback } = await newBrowser(node.app).open(
      authorizeUrl('narrow', newPkce(), { scope: 'offers:read wallets:write' }),
    );
    expect(callback?.searchParams.get('error')).toBe('invalid_scope');
    const offline = await newBrowser(node.app).open(
      authorizeUrl('narrow', newPkce(), { scope: 'openid offline_access' }),
    );
    expect(offline.callback?.searchParams.get('error')).toBe('invalid_scope');
  });

  test('the ID token requires openid, its email claim requires email', async () => {
    expect(await signIn({ scope: 'offers:read' })).not.toHaveProperty('id_token');
    const claims = (token: string) =>
      JSON.parse(Buffer.from(String(token.split('.')[1]), 'base64url').toString());
    expect(claims((await signIn({ scope: 'openid', nonce: 'n1' })).id_token)).toMatchObject({
      sub: USER,
      nonce: 'n1',
      iss: node.ctx.baseUrl,
    });
    expect(claims((await signIn({ scope: 'openid' })).id_token)).not.toHaveProperty('email');
    expect(claims((await signIn({ scope: 'openid email' })).id_token)).toMatchObject({
      email: `${USER}@user.test`,
    });
  });
});

test('denying consent returns access_denied with the state and the issuer', async () => {
  decision = 'deny';
  const { callback } = await newBrowser(node.app).open(authorizeUrl(client.clientId, newPkce()));
  decision = { user: USER };
  expect(Object.fromEntries(callback?.searchParams ?? [])).toEqual({
    error: 'access_denied',
    error_description: 'the user denied access',
    state: 'test-state',
    iss: node.ctx.baseUrl,
  });
});

test('a browser that consented signs in silently with prompt=none', async () => {
  const browser = newBrowser(node.app);
  const url = () => authorizeUrl(client.clientId, newPkce(), { scope: 'offers:read', prompt: undefined });
  expect((await browser.open(url())).callback?.searchParams.has('code')).toBe(true);
  decision = 'deny';
  expect((await browser.open(`${url()}&prompt=none`)).callback?.searchParams.has('code')).toBe(true);
  decision = { user: USER };
});

test('signing out of the pages or switching accounts ends the session here', async () => {
  const browser = newBrowser(node.app);
  await makeUser(node.ctx, '01890000-0000-7000-8000-0000000000cc');
  let pageUser: string | null = USER;
  node.ctx.oauth.hooks.signIn = async () =>
    pageUser === null ? null : { userId: pageUser, at: 1_700_000_000, amr: ['pwd'] };
  const silentError = async () =>
    (
      await browser.open(`${authorizeUrl(client.clientId, newPkce(), { scope: 'openid' })}&prompt=none`)
    ).callback?.searchParams.get('error');
  await browser.open(authorizeUrl(client.clientId, newPkce(), { scope: 'openid' }));
  expect(await silentError()).toBeNull();
  pageUser = null;
  expect(await silentError()).toBe('login_required');
  pageUser = '01890000-0000-7000-8000-0000000000cc';
  decision = { user: pageUser };
  const changed = await browser.open(authorizeUrl(client.clientId, newPkce(), { scope: 'openid' }));
  expect(changed.callback?.searchParams.has('code')).toBe(true);
  decision = { user: USER };
  node.ctx.oauth.hooks.signIn = null;
});

describe('CORS', () => {
  const from = (origin: string, options: InjectOptions) =>
    node.app.inject({ ...options, headers: { ...options.headers, origin } });

  test("userinfo is readable from the partner's origins only, and never with cookies", async () => {
    const { access_token } = await signIn({ scope: 'openid' });
    const options = { url: '/oauth/userinfo', headers: { authorization: `Bearer ${access_token}` } };
    const own = await from('https://app.partner.test', options);
    expect(own.headers['access-control-allow-origin']).toBe('https://app.partner.test');
    expect(own.headers).not.toHaveProperty('access-control-allow-credentials');
    const other = await from('https://evil.test', options);
    expect(other.headers).not.toHaveProperty('access-control-allow-origin');
  });

  test('preflights allow registered origins only', async () => {
    const preflight = (origin: string) =>
      from(origin, {
        method: 'OPTIONS',
        url: '/oauth/userinfo',
        headers: { 'access-control-request-method': 'GET' },
      });
    expect((await preflight('https://app.partner.test')).headers['access-control-allow-origin']).toBe(
      'https://app.partner.test',
    );
    expect((await preflight('https://evil.test')).headers).not.toHaveProperty('access-control-allow-origin');
  });

  test('discovery and keys are readable from every origin', async () => {
    for (const url of ['/.well-known/openid-configuration', '/oauth/jwks'])
      expect((await from('https://any.test', { url })).headers['access-control-allow-origin']).toBe('*');
  });
});

test('the token rate limit counts only authenticated requests of the client', async () => {
  const small = await testApp({ config: { limits: { ...testConfig().limits, oauth_token: 3 } } });
  const mine = await makeClient(small.ctx);
  const request = (secret: string) =>
    postToken(small.app, { ...mine, secret }, { grant_type: 'client_credentials', redirect_uri: undefined });
  for (let i = 0; i < 5; i++) expect((await request('wrong')).statusCode).toBe(401);
  for (const remaining of ['2', '1', '0'])
    expect((await request(mine.secret)).headers['ratelimit-remaining']).toBe(remaining);
  const limited = await request(mine.secret);
  expect([limited.statusCode, limited.json().code]).toEqual([429, 'rate_limited']);
  expect(Number(limited.headers['retry-after'])).toBeGreaterThan(0);
  await small.close();
});

test('a rotated signing key is used on every node immediately, and the previous one stays published', async () => {
  const otherNode = await testApp({ databaseUrl: String(node.ctx.pool.options.connectionString) });
  const kids = async (app: TestApp['app']) =>
    (await app.inject('/oauth/jwks')).json().keys.map((key: { kid: string }) => key.kid);
  const [previous] = await kids(otherNode.app);
  const kid = await rotateSigningKey(node.ctx);
  await expect.poll(() => kids(otherNode.app)).toEqual([kid, previous]);
  await expect.poll(() => kids(node.app)).toEqual([kid, previous]);
  const { id_token } = await signIn({ scope: 'openid' });
  expect(JSON.parse(Buffer.from(id_token.split('.')[0], 'base64url').toString()).kid).toBe(kid);
  await node.ctx.pool.query(
    `update oauth_signing_keys set retired_at = now() - interval '2 days' where kid = $1`,
    [previous],
  );
  await expect.poll(() => kids(otherNode.app)).toEqual([kid]);
  await otherNode.close();
});

test('cookies are HttpOnly and SameSite, and Secure over https', async () => {
  const started = await node.app.inject(authorizeUrl(client.clientId, newPkce()));
  for (const cookie of [started.headers['set-cookie']].flat())
    expect(cookie).toMatch(/samesite=lax; httponly/i);
  const secure = await testApp({ baseUrl: 'https://causeway.test' });
  await makeClient(secure.ctx);
  const reply = await secure.app.inject(authorizeUrl(client.clientId, newPkce()));
  expect([reply.headers['set-cookie']].flat().length).toBeGreaterThan(0);
  for (const cookie of [reply.headers['set-cookie']].flat()) expect(cookie).toMatch(/; secure/i);
  await secure.close();
});

test.each([
  ['/oauth/token', 'grant_type=client_credentials&'],
  ['/oauth/revoke', 'token=x&'],
  ['/oauth/introspect', 'token=x&'],
])('%s refuses NUL characters in credentials as a fault of the client', async (url, parameters) => {
  const send = async (payload: string, authorization?: string) => {
    const headers = { 'content-type': FORM, ...(authorization !== undefined && { authorization }) };
    const reply = await node.app.inject({ method: 'POST', url, headers, payload });
    return [reply.statusCode, reply.json().error];
  };
  expect(await send(`${parameters}client_id=a\0b&client_secret=c`)).toEqual([400, 'invalid_request']);
  for (const text of ['a\0b:c', 'a%00b:c', 'a:c\0']) {
    const [status] = await send(parameters, `Basic ${Buffer.from(text).toString('base64')}`);
    expect([400, 401]).toContain(status);
  }
});
