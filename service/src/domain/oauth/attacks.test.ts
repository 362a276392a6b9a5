import { createHmac } from 'node:crypto';
import { exportJWK, generateKeyPair, importJWK, jwtVerify, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type TestApp, testApp } from '../../../test/support/app.ts';
import {
  allow,
  authorizeUrl,
  newBrowser,
  newPkce,
  obtainCode,
  postToken,
} from '../../../test/support/browser.ts';
import { makeClient, makeUser, REDIRECT, type TestClient, USER } from '../../../test/support/tokens.ts';

let node: TestApp;
let client: TestClient;
let other: TestClient;
beforeAll(async () => {
  node = await testApp({ pages: false, plugins: [allow], config: {} });
  client = await makeClient(node.ctx);
  other = await makeClient(node.ctx, { clientId: 'partner-two' });
  await makeUser(node.ctx);
});
afterAll(() => node.close());

const authorize = (changes: Record<string, string | undefined>, pkce = newPkce()) =>
  newBrowser(node.app).open(authorizeUrl(client.clientId, pkce, changes));

async function signIn(changes: Record<string, string | undefined> = {}) {
  const pkce = newPkce();
  const code = await obtainCode(node.app, authorizeUrl(client.clientId, pkce, changes));
  const exchange = (params: Record<string, string | undefined> = {}, as = client) =>
    postToken(node.app, as, {
      grant_type: 'authorization_code',
      code,
      code_verifier: pkce.verifier,
      ...params,
    });
  return { code, pkce, exchange };
}

const introspect = async (token: string, credentials: Record<string, string> = {}) =>
  (
    await node.app.inject({
      method: 'POST',
      url: '/oauth/introspect',
      payload: { token, client_id: client.clientId, client_secret: client.secret, ...credentials },
    })
  ).json();

const refresh = (refresh_token: string, as = client) =>
  postToken(node.app, as, { grant_type: 'refresh_token', refresh_token, redirect_uri: undefined });

describe('authorization requests', () => {
  test.each(['token', 'id_token', 'code token', 'code id_token token', 'none', 'nonsense'])(
    'the response type %s is reported where a client of the code flow looks',
    async (response_type) => {
      const { callback } = await authorize({ response_type });
      expect(Object.fromEntries(callback?.searchParams ?? [])).toMatchObject({
        error: 'unsupported_response_type',
        state: 'test-state',
        iss: node.ctx.baseUrl,
      });
      expect(callback?.hash).toBe('');
    },
  );

  test('only unknown scopes are an error, beside known ones they are ignored', async () => {
    const { callback } = await authorize({ scope: 'profile nonsense' });
    expect(callback?.searchParams.get('error')).toBe('invalid_scope');
    const { exchange } = await signIn({ scope: 'openid profile' });
    expect((await exchange()).json().scope).toBe('openid');
  });
});

describe('PKCE', () => {
  test.each([
    ['no challenge', { code_challenge: undefined, code_challenge_method: undefined }],
    ['the plain method', { code_challenge_method: 'plain' }],
    ['no method, which would mean plain', { code_challenge_method: undefined }],
    ['a challenge that is not a hash', { code_challenge: 'short' }],
  ])('%s is rejected before the user sees a page', async (_name, changes) => {
    const { callback } = await authorize(changes);
    expect(callback?.searchParams.get('error')).toBe('invalid_request');
    expect(callback?.searchParams.get('state')).toBe('test-state');
    expect(callback?.searchParams.has('code')).toBe(false);
  });

  test.each([
    ['a missing', undefined],
    ['a wrong', newPkce().verifier],
    ['an empty', ''],
  ])('%s verifier is rejected, and the code still works with the right one', async (_name, code_verifier) => {
    const { exchange } = await signIn();
    const reply = await exchange({ code_verifier });
    expect([reply.statusCode, reply.json().error]).toEqual([400, 'invalid_grant']);
    expect((await exchange()).statusCode).toBe(200);
  });

  test('the challenge is not accepted as the verifier', async () => {
    const { exchange, pkce } = await signIn();
    expect((await exchange({ code_verifier: pkce.challenge })).json().error).toBe('invalid_grant');
  });
});

describe('authorization codes', () => {
  test('another client cannot redeem the code', async () => {
    const { exchange } = await signIn();
    const reply = await exchange({}, other);
    expect([reply.statusCode, reply.json().error]).toEqual([400, 'invalid_grant']);
  });

  test('a replayed code is rejected and its tokens are revoked', async () => {
    const { exchange } = await signIn();
    const tokens = (await exchange()).json();
    expect((await introspect(tokens.access_token)).active).toBe(true);
    expect((await exchange()).json().error).toBe('invalid_grant');
    expect(await introspect(tokens.access_token)).toEqual({ active: false });
    expect((await refresh(tokens.refresh_token)).json().error).toBe('invalid_grant');
    const headers = { authorization: `Bearer ${tokens.access_token}` };
    expect((await node.app.inject({ url: '/oauth/userinfo', headers })).statusCode).toBe(401);
  });

  test('a code expires after 60 seconds', async () => {
    const { code, exchange } = await signIn();
    const row = `kind = 'AuthorizationCode' and hash = sha256('${code}')`;
    const { rows } = await node.ctx.pool.query(`select payload from oauth_artifacts where ${row}`);
    expect(rows[0].payload.exp - rows[0].payload.iat).toBe(60);
    await node.ctx.pool.query(
      `update oauth_artifacts set expires_at = now() - interval '1 second' where ${row}`,
    );
    expect((await exchange()).json().error).toBe('invalid_grant');
  });

  test('a code is bound to its redirect URI', async () => {
    const { exchange } = await signIn();
    expect((await exchange({ redirect_uri: `${REDIRECT}2` })).json().error).toBe('invalid_grant');
    expect((await exchange({ redirect_uri: undefined })).json().error).toBe('invalid_request');
  });
});

describe('an unregistered redirect URI gets an error page, never a redirect', () => {
  test.each([
    ['a longer path', `${REDIRECT}/more`],
    ['a shorter path', 'https://app.partner.test/'],
    ['another port', 'https://app.partner.test:8443/callback'],
    ['the default port spelled out', 'https://app.partner.test:443/callback'],
    ['another scheme', 'http://app.partner.test/callback'],
    ['a script URL', 'javascript:alert(1)//https://app.partner.test/callback'],
    ['a fragment', `${REDIRECT}#x`],
    ['a query', `${REDIRECT}?x=1`],
    ['user info', 'https://app.partner.test@evil.test/callback'],
    ['a subdomain', 'https://evil.app.partner.test/callback'],
    ['a longer host', 'https://app.partner.test.evil.test/callback'],
    ['upper case', 'https://APP.partner.test/callback'],
    ['a path that resolves to it', 'https://app.partner.test/x/../callback'],
    ['an encoded slash', 'https://app.partner.test%2fcallback'],
    ['a backslash', 'https://evil.test\\@app.partner.test/callback'],
    ['no scheme', '//app.partner.test/callback'],
    ['an empty value', ''],
  ])('%s', async (_name, redirect_uri) => {
    const { callback, reply } = await authorize({ redirect_uri });
    expect(callback).toBeNull();
    expect(reply?.statusCode).toBe(400);
    expect(reply?.headers.location).toBeUndefined();
    expect(reply?.headers['content-security-policy']).toContain("frame-ancestors 'none'");
  });

  test('an unknown client gets the error page too, and its name is escaped', async () => {
    const { callback, reply } = await authorize({ client_id: '<script>alert(1)</script>' });
    expect([callback, reply?.statusCode]).toEqual([null, 400]);
    expect(reply?.body).not.toContain('<script>');
  });

  test.each(['fragment', 'form_post', 'web_message', 'jwt'])('response_mode %s', async (response_mode) => {
    const { callback, reply } = await authorize({ response_mode });
    expect(`${callback?.href}${reply?.body}`).toContain('error');
    expect(`${callback?.href}${reply?.body}`).not.toMatch(/[?&#]code=|name="code"/);
  });

  test.each(['token', 'id_token', 'code id_token', 'none'])('response_type %s', async (response_type) => {
    const { callback } = await authorize({ response_type, nonce: 'n', scope: 'openid' });
    expect(`${callback?.search}${callback?.hash}`).toMatch(
      /error=(unsupported_response_type|invalid_request)/,
    );
    expect(callback?.href).not.toMatch(/token=/);
  });
});

test('mix-up: success and error responses name the issuer', async () => {
  for (const changes of [
    {},
    { code_challenge: undefined, code_challenge_method: undefined },
    { prompt: 'none' },
  ]) {
    const { callback } = await authorize(changes);
    expect(callback?.searchParams.get('iss')).toBe(node.ctx.baseUrl);
    expect(callback?.searchParams.get('state')).toBe('test-state');
  }
});

describe('refresh tokens', () => {
  const rotateNow = () =>
    node.ctx.pool.query(
      `update oauth_artifacts set payload = payload || jsonb_build_object('iat', extract(epoch from now())::int - 2000000, 'exp', extract(epoch from now())::int + 500000), expires_at = now() + interval '500000 seconds' where kind = 'RefreshToken' and consumed_at is null`,
    );

  test('the token is kept far from its expiry and rotated near it', async () => {
    const { refresh_token } = (await (await signIn()).exchange()).json();
    expect((await refresh(refresh_token)).json().refresh_token).toBe(refresh_token);
    await rotateNow();
    expect((await refresh(refresh_token)).json().refresh_token).not.toBe(refresh_token);
  });

  test('a retry after a lost rotation reply gets a successor', async () => {
    const { refresh_token } = (await (await signIn()).exchange()).json();
    await rotateNow();
    const first = (await refresh(refresh_token)).json();
    const retried = (await refresh(refresh_token)).json();
    for (const { refresh_token: successor } of [first, retried])
      expect((await refresh(successor)).statusCode).toBe(200);
  });

  test('late use of a rotated token revokes the grant and all its tokens', async () => {
    const { refresh_token, access_token } = (await (await signIn()).exchange()).json();
    await rotateNow();
    const rotated = (await refresh(refresh_token)).json();
    await node.ctx.pool.query(
      `update oauth_artifacts set consumed_at = consumed_at - interval '1 minute' where consumed_at is not null`,
    );
    expect((await refresh(refresh_token)).json().error).toBe('invalid_grant');
    expect((await refresh(rotated.refresh_token)).json().error).toBe('invalid_grant');
    for (const token of [access_token, rotated.access_token])
      expect(await introspect(token)).toEqual({ active: false });
  });

  test('another client cannot use the token, and its owner still can', async () => {
    const { refresh_token } = (await (await signIn()).exchange()).json();
    expect((await refresh(refresh_token, other)).json().error).toBe('invalid_grant');
    expect((await refresh(refresh_token)).statusCode).toBe(200);
  });

  test('a refresh cannot widen the granted scope', async () => {
    const { refresh_token } = (await (await signIn({ scope: 'offers:read' })).exchange()).json();
    const reply = await postToken(node.app, client, {
      grant_type: 'refresh_token',
      refresh_token,
      scope: 'offers:read pii:read',
    });
    expect(reply.json().error).toBe('invalid_scope');
  });

  test('a refresh token is not accepted as an access token', async () => {
    const { refresh_token } = (await (await signIn()).exchange()).json();
    expect(await introspect(refresh_token)).toEqual({ active: false });
    const reply = await node.app.inject({
      url: '/oauth/userinfo',
      headers: { authorization: `Bearer ${refresh_token}` },
    });
    expect(reply.statusCode).toBe(401);
  });
});

describe("another client's token", () => {
  test('is reported as inactive and cannot be revoked', async () => {
    const { access_token } = (await (await signIn()).exchange()).json();
    const theirs = { client_id: other.clientId, client_secret: other.secret };
    expect(await introspect(access_token, theirs)).toEqual({ active: false });
    const revoked = await node.app.inject({
      method: 'POST',
      url: '/oauth/revoke',
      payload: { token: access_token, ...theirs },
    });
    expect(revoked.statusCode).toBe(200);
    expect((await introspect(access_token)).active).toBe(true);
  });
});

describe('JWT algorithm attacks', () => {
  const assertion = (jwt: string) =>
    postToken(node.app, client, {
      grant_type: 'client_credentials',
      client_id: client.clientId,
      client_secret: undefined,
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: jwt,
    });
  const claims = () => ({
    iss: client.clientId,
    sub: client.clientId,
    aud: node.ctx.baseUrl,
    jti: String(Math.random()),
    exp: Math.floor(Date.now() / 1000) + 60,
  });
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

  test.each([
    'none',
    'HS256 with the placeholder secret',
    'HS256 with the public key',
    'ES256 with an unknown key',
  ])('a client assertion signed with %s is rejected', async (kind) => {
    const [key] = (await node.app.inject('/oauth/jwks')).json().keys;
    const hmac = (secret: string) => {
      const text = `${encode({ alg: 'HS256' })}.${encode(claims())}`;
      return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
    };
    const jwt =
      kind === 'none'
        ? `${encode({ alg: 'none' })}.${encode(claims())}.`
        : kind.startsWith('ES256')
          ? await new SignJWT(claims())
              .setProtectedHeader({ alg: 'ES256' })
              .sign((await generateKeyPair('ES256')).privateKey)
          : hmac(kind.includes('placeholder') ? 'stored as a hash' : JSON.stringify(key));
    const reply = await assertion(jwt);
    expect([400, 401]).toContain(reply.statusCode);
    expect(reply.json()).not.toHaveProperty('access_token');
  });

  test('ID tokens are RS256 by a published key, and forged hints are rejected', async () => {
    const { exchange } = await signIn({ scope: 'openid' });
    const { id_token } = (await exchange()).json();
    const [key] = (await node.app.inject('/oauth/jwks')).json().keys;
    const { protectedHeader } = await jwtVerify(id_token, await importJWK(key, 'RS256'), {
      issuer: node.ctx.baseUrl,
      audience: client.clientId,
    });
    expect(protectedHeader).toMatchObject({ alg: 'RS256', kid: key.kid });
    const forger = await generateKeyPair('RS256', { extractable: true });
    const hint = { sub: USER, iss: node.ctx.baseUrl, aud: client.clientId, iat: 1, exp: 2_000_000_000 };
    const none = `${encode({ alg: 'none' })}.${encode(hint)}.`;
    const forged = await new SignJWT(hint)
      .setProtectedHeader({ alg: 'RS256', kid: key.kid, jwk: await exportJWK(forger.publicKey) })
      .sign(forger.privateKey);
    for (const id_token_hint of [none, forged]) {
      const { callback } = await authorize({ scope: 'openid', id_token_hint });
      expect(callback?.searchParams.get('error')).toBe('invalid_request');
    }
  });

  test.each(['request', 'request_uri', 'registration', 'claims'])(
    'the parameter %s cannot change the redirect',
    async (name) => {
      const value =
        name === 'claims'
          ? '{"id_token":{"email":{"essential":true}}}'
          : `${encode({ alg: 'none' })}.${encode({ redirect_uri: 'https://evil.test/' })}.`;
      const { callback, reply } = await authorize({ [name]: value });
      expect(callback?.host ?? 'app.partner.test').toBe('app.partner.test');
      expect(reply?.headers.location).toBeUndefined();
    },
  );
});

describe('token scanning', () => {
  test('introspection without credentials is limited per address; with credentials it is not', async () => {
    const statuses: number[] = [];
    const remaining: unknown[] = [];
    let last = null;
    for (let i = 0; i < 61; i++) {
      last = await node.app.inject({
        method: 'POST',
        url: '/oauth/introspect',
        payload: { token: `${'x'.repeat(40)}${100 + i}` },
      });
      statuses.push(last.statusCode);
      remaining.push(last.headers['ratelimit-remaining']);
    }
    expect(remaining.slice(0, 2)).toEqual(['59', '58']);
    expect(statuses.slice(0, 60).every((status) => status === 200)).toBe(true);
    expect(last?.statusCode).toBe(429);
    expect(last?.json()).toMatchObject({ code: 'rate_limited', error: 'temporarily_unavailable' });
    expect(Number(last?.headers['retry-after'])).toBeGreaterThan(0);
    expect(await introspect('x'.repeat(43))).toEqual({ active: false });
  });

  test.each([
    ['a wrong secret', { client_secret: 'cws_wrong' }],
    ['an unknown client', { client_id: 'nobody' }],
  ])('introspection with %s is 401', async (_name, changes) => {
    const reply = await node.app.inject({
      method: 'POST',
      url: '/oauth/introspect',
      payload: {
        token: 'x'.repeat(43),
        client_id: client.clientId,
        client_secret: client.secret,
        ...changes,
      },
    });
    expect([reply.statusCode, reply.json().code, reply.json().error]).toEqual([
      401,
      'unauthorized',
      'invalid_client',
    ]);
    expect(reply.headers['www-authenticate']).toContain('Basic');
  });
});

test('introspection ignores a Bearer header, and a client id without a secret counts as no credentials', async () => {
  const other = await makeClient(node.ctx, { clientId: 'partner-two' });
  const { access_token } = (await (await signIn()).exchange()).json();
  const ask = async (payload: Record<string, string>, authorization?: string) =>
    (
      await node.app.inject({
        method: 'POST',
        url: '/oauth/introspect',
        payload: { token: access_token, ...payload },
        remoteAddress: '10.0.0.9',
        headers: authorization === undefined ? {} : { authorization },
      })
    ).json();
  for (const active of [
    await ask({}, `Bearer ${access_token}`),
    await ask({}, 'bearer nonsense'),
    await ask({ client_id: client.clientId }),
    await ask({ client_id: 'nobody' }),
    await ask({ client_id: other.clientId, client_secret: '' }),
    await ask({ client_id: client.clientId, client_secret: client.secret }, 'Bearer nonsense'),
  ])
    expect(active.active).toBe(true);
  expect(await ask({ client_id: other.clientId, client_secret: other.secret }, 'Bearer x')).toEqual({
    active: false,
  });
  expect(await ask({}, 'Digest x')).toMatchObject({ code: 'unauthorized', error: 'invalid_client' });
});

test('another browser cannot resume an interaction', async () => {
  const started = await node.app.inject(authorizeUrl(client.clientId, newPkce()));
  const uid = String(started.headers.location).split('/').at(-1);
  const stranger = await node.app.inject({ url: `/oauth/authorize/${uid}` });
  expect([stranger.statusCode, stranger.headers.location]).toEqual([400, undefined]);
  expect((await node.app.inject(`/interaction/${uid}`)).headers.location).toBeUndefined();
});
