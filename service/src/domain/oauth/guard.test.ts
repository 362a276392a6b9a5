import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type TestApp, testApp } from '../../../test/support/app.ts';
import { makeClient, makeUser, partnerOf, REDIRECT, USER } from '../../../test/support/tokens.ts';
import { SCOPES } from '../../kernel/access.ts';
import { disablePartner, enablePartner, rotateSecret } from '../partners/partner.ts';
import { createGuard } from './guard.ts';
import { issueUserTokens } from './issue.ts';

let node: TestApp;
let otherNode: TestApp;
beforeAll(async () => {
  node = await testApp();
  otherNode = await testApp({ databaseUrl: String(node.ctx.pool.options.connectionString) });
  await makeClient(node.ctx);
  await makeUser(node.ctx);
});
afterAll(async () => {
  await otherNode.close();
  await node.close();
});

const issue = (clientId = 'partner-one') =>
  issueUserTokens(node.ctx, { clientId, userId: USER, scopes: Object.keys(SCOPES) });

/** Makes the other node cache the token. */
async function warmCache(token: string): Promise<void> {
  expect(await otherNode.ctx.guard.check(token)).not.toBeNull();
  // A notification about another token may prevent the first read from being cached.
  await expect
    .poll(
      async () =>
        (await otherNode.ctx.guard.check(token)) && otherNode.ctx.guard.check(token) instanceof Promise,
    )
    .toBe(false);
}

/** Measures for how many milliseconds the other node still accepts the token after `end` has returned. */
async function measureRevocation(token: string, end: () => Promise<unknown>): Promise<number> {
  await warmCache(token);
  await end();
  const startedAt = performance.now();
  while ((await otherNode.ctx.guard.check(token)) !== null && performance.now() - startedAt < 5000)
    await sleep(2);
  return performance.now() - startedAt;
}

const revoke = async (token: string) => {
  const { clientId, secret } = await makeClient(node.ctx);
  const payload = { token, client_id: clientId, client_secret: secret };
  expect((await node.app.inject({ method: 'POST', url: '/oauth/revoke', payload })).statusCode).toBe(200);
};

describe('a token ends on every node within a second of', () => {
  test.each<[string, (tokens: Awaited<ReturnType<typeof issue>>) => Promise<unknown>]>([
    ['revoking the token', ({ access_token }) => revoke(access_token)],
    ['revoking its refresh token', ({ refresh_token }) => revoke(refresh_token)],
    ['disconnecting the app', () => node.ctx.oauth.revokeGrant(USER, 'partner-one')],
    ['revoking all grants of the user', () => node.ctx.oauth.revokeGrant(USER)],
    [
      'a manual SQL update',
      () => node.ctx.pool.query('update oauth_grants set revoked_at = now() where revoked_at is null'),
    ],
    ['disabling the partner', () => disablePartner(node.ctx, 'partner-one', 'left')],
  ])('%s', async (_name, end) => {
    const tokens = await issue();
    expect(await measureRevocation(tokens.access_token, () => end(tokens))).toBeLessThan(1000);
    await enablePartner(node.ctx, 'partner-one');
  });

  test('revoking a partner token', async () => {
    const token = await node.tokenFor({ userId: null });
    expect(await measureRevocation(token, () => revoke(token))).toBeLessThan(1000);
  });
});

test('enabling a disabled partner does not bring back anything it was issued before', async () => {
  const { clientId, secret } = await makeClient(node.ctx, { clientId: 'disabled' });
  const user = await issue(clientId);
  const partnerToken = await node.tokenFor({ clientId, userId: null });
  const provider = node.ctx.oauth.provider();
  const client = await provider.Client.find(clientId);
  const grantId = (await provider.RefreshToken.find(user.refresh_token))?.grantId;
  const code = await new provider.AuthorizationCode({
    accountId: USER,
    client,
    grantId,
    gty: 'authorization_code',
    redirectUri: REDIRECT,
    scope: 'openid',
  } as never).save();
  const tokens = [user.access_token, partnerToken];
  for (const token of tokens) await warmCache(token);

  await disablePartner(node.ctx, clientId, 'left');
  await enablePartner(node.ctx, clientId);
  for (const { app, ctx } of [node, otherNode]) {
    for (const token of tokens) await expect.poll(() => ctx.guard.check(token)).toBeNull();
    const credentials = { client_id: clientId, client_secret: secret };
    const send = (url: string, payload: object) =>
      app.inject({ method: 'POST', url, payload: { ...payload, ...credentials } });
    for (const payload of [
      { grant_type: 'refresh_token', refresh_token: user.refresh_token },
      { grant_type: 'authorization_code', code, redirect_uri: REDIRECT },
    ])
      expect((await send('/oauth/token', payload)).json()).toMatchObject({ error: 'invalid_grant' });
    for (const token of [...tokens, user.refresh_token])
      expect((await send('/oauth/introspect', { token })).json()).toEqual({ active: false });
    const headers = { authorization: `Bearer ${user.access_token}` };
    expect((await app.inject({ url: '/oauth/userinfo', headers })).statusCode).toBe(401);

    const renewed = await issue(clientId);
    expect(await ctx.guard.check(renewed.access_token)).not.toBeNull();
    const refresh = { grant_type: 'refresh_token', refresh_token: renewed.refresh_token };
    expect((await send('/oauth/token', refresh)).statusCode).toBe(200);
  }
});

const WAITING_FOR_USERS = `select from pg_locks where relation = 'users'::regclass and not granted`;

test('tokens whose request was running while the partner was disabled and enabled again are invalid', async () => {
  const { clientId, secret } = await makeClient(node.ctx, { clientId: 'in-flight' });
  const { refresh_token } = await issue(clientId);
  // The refresh token expires soon, so using it also issues a new refresh token.
  await node.ctx.pool.query(
    `update oauth_artifacts set payload = payload || jsonb_build_object('iat', extract(epoch from now())::int - 2500000, 'exp', extract(epoch from now())::int + 1000), expires_at = now() + interval '1000 seconds'
     where kind = 'RefreshToken' and hash = sha256($1::bytea)`,
    [Buffer.from(refresh_token)],
  );
  const refresh = (token: string) =>
    node.app.inject({
      method: 'POST',
      url: '/oauth/token',
      payload: {
        grant_type: 'refresh_token',
        refresh_token: token,
        client_id: clientId,
        client_secret: secret,
      },
    });
  const blocker = await node.ctx.pool.connect();
  await blocker.query('begin; lock table users in access exclusive mode');
  const inFlight = refresh(refresh_token);
  await expect.poll(async () => (await blocker.query(WAITING_FOR_USERS)).rowCount).toBeGreaterThan(0);
  await disablePartner(otherNode.ctx, clientId, 'left');
  await enablePartner(otherNode.ctx, clientId);
  await blocker.query('rollback');
  blocker.release();

  const issued = (await inFlight).json();
  if (issued.access_token !== undefined) expect(await node.ctx.guard.check(issued.access_token)).toBeNull();
  expect((await refresh(issued.refresh_token ?? refresh_token)).json().error).toBe('invalid_grant');
});

test('a token loses a scope that its client lost and regained', async () => {
  const { clientId } = await makeClient(node.ctx, { clientId: 'regaining' });
  const { access_token } = await issue(clientId);
  expect((await node.ctx.guard.check(access_token))?.scopes).toContain('email');
  for (const scopes of ["array_remove(scopes, 'email')", "array_append(scopes, 'email')"])
    await node.ctx.pool.query(`update oauth_clients set scopes = ${scopes} where client_id = $1`, [clientId]);
  const checked = await otherNode.ctx.guard.check(access_token);
  expect(checked?.scopes).toContain('openid');
  expect(checked?.scopes).not.toContain('email');
});

test('the revoking node rejects the token before it replies', async () => {
  for (const end of [
    ({ access_token }: { access_token: string }) => revoke(access_token),
    ({ refresh_token }: { refresh_token: string }) => revoke(refresh_token),
    () => node.ctx.oauth.revokeGrant(USER, 'partner-one'),
  ]) {
    const tokens = await issue();
    await node.ctx.guard.check(tokens.access_token);
    expect(node.ctx.guard.check(tokens.access_token)).not.toBeInstanceOf(Promise);
    await end(tokens);
    expect(await node.ctx.guard.check(tokens.access_token)).toBeNull();
  }
});

test('revoking one access token leaves the other tokens of the grant valid', async () => {
  const tokens = await issue();
  const { clientId, secret } = await makeClient(node.ctx);
  const refresh = {
    grant_type: 'refresh_token',
    refresh_token: tokens.refresh_token,
    client_id: clientId,
    client_secret: secret,
  };
  const second = (await node.app.inject({ method: 'POST', url: '/oauth/token', payload: refresh })).json();
  await revoke(tokens.access_token);
  expect(await node.ctx.guard.check(tokens.access_token)).toBeNull();
  expect(await node.ctx.guard.check(second.access_token)).not.toBeNull();
});

test('an expired token is rejected even if cached', async () => {
  const { access_token } = await issue();
  await node.ctx.pool.query(
    `update oauth_tokens set expires_at = now() + interval '1500 milliseconds' where hash = sha256($1::bytea)`,
    [Buffer.from(access_token)],
  );
  await warmCache(access_token);
  // A node whose read took longer regards the token as expired a little earlier.
  for (const { ctx } of [otherNode, node])
    while ((await ctx.guard.check(access_token)) !== null) await sleep(20);
});

test('a check returns the client, partner, user, scopes and origins', async () => {
  const origin = 'https://described.test';
  await makeClient(node.ctx, { clientId: 'described', origins: [origin] });
  const { access_token } = await issueUserTokens(node.ctx, {
    clientId: 'described',
    userId: USER,
    scopes: ['pii:read', 'openid'],
  });
  expect(await node.ctx.guard.check(access_token)).toMatchObject({
    clientId: 'described',
    partnerId: partnerOf('described'),
    userId: USER,
    scopes: new Set(['pii:read', 'openid']),
    origins: new Set([origin]),
  });
});

test('an uncached check costs one read, a cached one none, and the cache is bounded', async () => {
  let reads = 0;
  const db = node.ctx.db.withPlugin({
    transformQuery: (args) => {
      reads++;
      return args.node;
    },
    transformResult: async ({ result }) => result,
  });
  const guard = await createGuard({ ...node.ctx, laneOf: () => ({ db }) as never }, 3);
  const tokens = await Promise.all(Array.from({ length: 5 }, async () => (await issue()).access_token));
  for (const token of tokens) expect(await guard.check(token)).not.toBeNull();
  expect(reads).toBe(5);
  for (const token of tokens.slice(2)) expect(guard.check(token)).not.toBeInstanceOf(Promise);
  expect(reads).toBe(5);
  for (const token of tokens.slice(0, 2)) expect(await guard.check(token)).not.toBeNull();
  expect(reads).toBe(7);
});

test('a malformed token costs no read', async () => {
  const guard = await createGuard({ ...node.ctx, laneOf: null as never });
  for (const text of ['', 'x', 'x'.repeat(42), 'x'.repeat(44), `${'x'.repeat(42)}.`, 'a.b.c'])
    expect(await guard.check(text)).toBeNull();
});

describe('without the notification connection', () => {
  /** Creates a guard with a notification connection that the test controls. */
  async function guardWith(connection: { up: boolean }) {
    const lost: (() => void)[] = [];
    const listener = {
      ...otherNode.ctx.listener,
      isConnected: () => connection.up,
      onLost: (handler: () => void) => void lost.push(handler),
    };
    const guard = await createGuard({ ...otherNode.ctx, listener });
    return { guard, lose: () => lost.forEach((handler) => void handler()) };
  }

  test('the cache is neither used nor filled', async () => {
    const connection = { up: true };
    const { guard } = await guardWith(connection);
    const [cached, fresh] = [(await issue()).access_token, (await issue()).access_token];
    await guard.check(cached);
    connection.up = false;
    expect(guard.check(cached)).toBeInstanceOf(Promise);
    await guard.check(fresh);
    connection.up = true;
    expect(guard.check(fresh)).toBeInstanceOf(Promise);
  });

  test('losing the connection clears the cache, however short the loss', async () => {
    const { guard, lose } = await guardWith({ up: true });
    const { access_token } = await issue();
    await guard.check(access_token);
    expect(guard.check(access_token)).not.toBeInstanceOf(Promise);
    lose();
    expect(guard.check(access_token)).toBeInstanceOf(Promise);
  });

  const killListeners = () =>
    node.ctx.pool.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'causeway-listen' and datname = current_database()`,
    );

  test('a node reads the database until the connection is restored', async () => {
    const { access_token } = await issue();
    await warmCache(access_token);
    const lost = new Promise<void>((resolve) => otherNode.ctx.listener.onLost(resolve));
    const restored = new Promise<void>((resolve) => otherNode.ctx.listener.onRestored(resolve));
    await killListeners();
    await lost;
    expect(otherNode.ctx.guard.check(access_token)).toBeInstanceOf(Promise);
    await node.ctx.pool.query('update oauth_grants set revoked_at = now() where revoked_at is null');
    // The node may be listening again by now. In that case, it may accept the token until the notification arrives.
    await expect.poll(() => otherNode.ctx.guard.check(access_token)).toBeNull();
    await restored;
    expect(await otherNode.ctx.guard.check(access_token)).toBeNull();
    await warmCache((await issue()).access_token);
  });
});

test('a read that started before the revocation does not refill the cache', async () => {
  const { access_token } = await issue();
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let markRead = () => {};
  const read = new Promise<void>((resolve) => {
    markRead = resolve;
  });
  const db = otherNode.ctx.db.withPlugin({
    transformQuery: (args) => args.node,
    transformResult: async ({ result }) => {
      markRead();
      await released;
      return result;
    },
  });
  const guard = await createGuard({ ...otherNode.ctx, laneOf: () => ({ db }) as never });
  const check = Promise.resolve(guard.check(access_token));
  await read;
  const notified = new Promise<void>((resolve) => void otherNode.ctx.listener.on('oauth', () => resolve()));
  await node.ctx.oauth.revokeGrant(USER);
  await notified;
  release();
  await check;
  expect(await guard.check(access_token)).toBeNull();
});

test('the previous client secret works for its grace period, older ones do not', async () => {
  const { clientId, secret: first } = await makeClient(node.ctx, { clientId: 'rotating' });
  const status = async (client_secret: string, app = otherNode.app) =>
    (
      await app.inject({
        method: 'POST',
        url: '/oauth/token',
        payload: { grant_type: 'client_credentials', client_id: clientId, client_secret },
      })
    ).statusCode;
  const second = await rotateSecret(node.ctx, clientId, 3600);
  expect([await status(first), await status(second)]).toEqual([200, 200]);
  const third = await rotateSecret(node.ctx, clientId, 3600);
  expect([await status(first), await status(second), await status(third)]).toEqual([401, 200, 200]);
  await node.ctx.pool.query(`update oauth_clients set previous_secret_until = now() where client_id = $1`, [
    clientId,
  ]);
  expect([await status(second), await status(third)]).toEqual([401, 200]);
  await rotateSecret(node.ctx, clientId, 0);
  expect(await status(third)).toBe(401);
});
