import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type TestApp, testApp } from '../../test/support/app.ts';
import { makeClient, makeUser, partnerOf, USER } from '../../test/support/tokens.ts';
import { SCOPES } from '../http/access.ts';
import { disablePartner, enablePartner, rotateSecret } from '../partners/partner.ts';
import { createGuard } from './guard.ts';
import { issueUserTokens } from './issue.ts';

let one: TestApp;
let two: TestApp;
beforeAll(async () => {
  one = await testApp();
  two = await testApp({ databaseUrl: String(one.ctx.pool.options.connectionString) });
  await makeClient(one.ctx);
  await makeUser(one.ctx);
});
afterAll(async () => {
  await two.close();
  await one.close();
});

const issue = (clientId = 'partner-one') =>
  issueUserTokens(one.ctx, { clientId, userId: USER, scopes: Object.keys(SCOPES) });

/** Known on the other node: its next check asks nobody. */
async function warm(token: string): Promise<void> {
  expect(await two.ctx.guard.check(token)).not.toBeNull();
  // What is heard of other tokens meanwhile keeps an answer out of the cache, so it may take another.
  await expect
    .poll(async () => (await two.ctx.guard.check(token)) && two.ctx.guard.check(token) instanceof Promise)
    .toBe(false);
}

/** How long the other node still honours the token after `end` has returned. */
async function endsWithin(token: string, end: () => Promise<unknown>): Promise<number> {
  await warm(token);
  await end();
  const since = performance.now();
  while ((await two.ctx.guard.check(token)) !== null && performance.now() - since < 5000) await sleep(2);
  return performance.now() - since;
}

const revoke = async (token: string) => {
  const { clientId, secret } = await makeClient(one.ctx);
  const payload = { token, client_id: clientId, client_secret: secret };
  expect((await one.app.inject({ method: 'POST', url: '/oauth/revoke', payload })).statusCode).toBe(200);
};

describe('what ends a token ends it on every node within a second', () => {
  test.each<[string, (tokens: Awaited<ReturnType<typeof issue>>) => Promise<unknown>]>([
    ['revoking it', ({ access_token }) => revoke(access_token)],
    ['revoking its refresh token', ({ refresh_token }) => revoke(refresh_token)],
    ['disconnecting the app', () => one.ctx.oauth.revokeGrant(USER, 'partner-one')],
    ['ending all grants of the user', () => one.ctx.oauth.revokeGrant(USER)],
    [
      'a statement by hand',
      () => one.ctx.pool.query('update oauth_grants set revoked_at = now() where revoked_at is null'),
    ],
    ['disabling the partner', () => disablePartner(one.ctx, 'partner-one')],
  ])('%s', async (_name, end) => {
    const tokens = await issue();
    expect(await endsWithin(tokens.access_token, () => end(tokens))).toBeLessThan(1000);
    await enablePartner(one.ctx, 'partner-one');
  });

  test('a token of the partner alone, revoked', async () => {
    const token = await one.tokenFor({ userId: null });
    expect(await endsWithin(token, () => revoke(token))).toBeLessThan(1000);
  });
});

test('on the node that ends it a token is dead before the reply is out', async () => {
  for (const end of [
    ({ access_token }: { access_token: string }) => revoke(access_token),
    ({ refresh_token }: { refresh_token: string }) => revoke(refresh_token),
    () => one.ctx.oauth.revokeGrant(USER, 'partner-one'),
  ]) {
    const tokens = await issue();
    await one.ctx.guard.check(tokens.access_token);
    expect(one.ctx.guard.check(tokens.access_token)).not.toBeInstanceOf(Promise);
    await end(tokens);
    expect(await one.ctx.guard.check(tokens.access_token)).toBeNull();
  }
});

test('revoking one access token leaves the others and the refresh token alone', async () => {
  const tokens = await issue();
  const { clientId, secret } = await makeClient(one.ctx);
  const refresh = {
    grant_type: 'refresh_token',
    refresh_token: tokens.refresh_token,
    client_id: clientId,
    client_secret: secret,
  };
  const second = (await one.app.inject({ method: 'POST', url: '/oauth/token', payload: refresh })).json();
  await revoke(tokens.access_token);
  expect(await one.ctx.guard.check(tokens.access_token)).toBeNull();
  expect(await one.ctx.guard.check(second.access_token)).not.toBeNull();
});

test('an expired token is worth nothing, in the cache too', async () => {
  const { access_token } = await issue();
  await one.ctx.pool.query(
    `update oauth_tokens set expires_at = now() + interval '1500 milliseconds' where hash = sha256($1::bytea)`,
    [Buffer.from(access_token)],
  );
  await warm(access_token);
  while (two.ctx.guard.check(access_token) !== null) await sleep(20);
  expect(await one.ctx.guard.check(access_token)).toBeNull();
});

test('tells the caller: client, partner, user, scopes and origins', async () => {
  const origin = 'https://told.test';
  await makeClient(one.ctx, { clientId: 'told', origins: [origin] });
  const { access_token } = await issueUserTokens(one.ctx, {
    clientId: 'told',
    userId: USER,
    scopes: ['pii:read', 'openid'],
  });
  expect(await one.ctx.guard.check(access_token)).toMatchObject({
    clientId: 'told',
    partnerId: partnerOf('told'),
    userId: USER,
    scopes: new Set(['pii:read', 'openid']),
    origins: new Set([origin]),
  });
});

test('a cold check is one read, a warm one none, and the cache has a bound', async () => {
  let reads = 0;
  const counting = {
    query: (config: never) => {
      reads++;
      return one.ctx.pool.query(config);
    },
  };
  const guard = await createGuard({ ...one.ctx, pool: counting as never }, 3);
  const tokens = await Promise.all(Array.from({ length: 5 }, async () => (await issue()).access_token));
  for (const token of tokens) expect(await guard.check(token)).not.toBeNull();
  expect(reads).toBe(5);
  for (const token of tokens.slice(2)) expect(guard.check(token)).not.toBeInstanceOf(Promise);
  expect(reads).toBe(5);
  for (const token of tokens.slice(0, 2)) expect(await guard.check(token)).not.toBeNull();
  expect(reads).toBe(7);
});

test('what is no token of ours costs no read', async () => {
  const guard = await createGuard({ ...one.ctx, pool: null as never });
  for (const text of ['', 'x', 'x'.repeat(42), 'x'.repeat(44), `${'x'.repeat(42)}.`, 'a.b.c'])
    expect(await guard.check(text)).toBeNull();
});

describe('without its connection for notifications', () => {
  /** A guard whose connection the test holds in its hand. */
  async function guardOn(line: { up: boolean }) {
    const lost: (() => void)[] = [];
    const listener = {
      ...two.ctx.listener,
      isConnected: () => line.up,
      onLost: (handler: () => void) => void lost.push(handler),
    };
    const guard = await createGuard({ ...two.ctx, listener });
    return { guard, lose: () => lost.forEach((handler) => void handler()) };
  }

  test('nothing cached is used, and nothing is cached', async () => {
    const line = { up: true };
    const { guard } = await guardOn(line);
    const [known, fresh] = [(await issue()).access_token, (await issue()).access_token];
    await guard.check(known);
    line.up = false;
    expect(guard.check(known)).toBeInstanceOf(Promise);
    await guard.check(fresh);
    line.up = true;
    expect(guard.check(fresh)).toBeInstanceOf(Promise);
  });

  test('what was known before the loss is forgotten, however short it was', async () => {
    const { guard, lose } = await guardOn({ up: true });
    const { access_token } = await issue();
    await guard.check(access_token);
    expect(guard.check(access_token)).not.toBeInstanceOf(Promise);
    lose();
    expect(guard.check(access_token)).toBeInstanceOf(Promise);
  });

  const cut = () =>
    one.ctx.pool.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'causeway-listen' and datname = current_database()`,
    );

  test('a node trusts nothing it has cached, and trusts again when it is back', async () => {
    const { access_token } = await issue();
    await warm(access_token);
    const lost = new Promise<void>((resolve) => two.ctx.listener.onLost(resolve));
    const restored = new Promise<void>((resolve) => two.ctx.listener.onRestored(resolve));
    await cut();
    await lost;
    expect(two.ctx.guard.check(access_token)).toBeInstanceOf(Promise);
    await one.ctx.pool.query('update oauth_grants set revoked_at = now() where revoked_at is null');
    // It may be listening again by now; then it hears of it like anybody.
    await expect.poll(() => two.ctx.guard.check(access_token)).toBeNull();
    await restored;
    expect(await two.ctx.guard.check(access_token)).toBeNull();
    await warm((await issue()).access_token);
  });
});

test('a read that began before the revocation does not bring the token back into the cache', async () => {
  const { access_token } = await issue();
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let hasRead = () => {};
  const read = new Promise<void>((resolve) => {
    hasRead = resolve;
  });
  const stale = {
    query: async (config: never) => {
      const answer = await two.ctx.pool.query(config);
      hasRead();
      await held;
      return answer;
    },
  };
  const guard = await createGuard({ ...two.ctx, pool: stale as never });
  const check = Promise.resolve(guard.check(access_token));
  await read;
  const heard = new Promise<void>((resolve) => void two.ctx.listener.on('oauth', () => resolve()));
  await one.ctx.oauth.revokeGrant(USER);
  await heard;
  release();
  await check;
  expect(await guard.check(access_token)).toBeNull();
});

test('a replaced client secret works until its grace is over, and no third one does', async () => {
  const { clientId, secret: first } = await makeClient(one.ctx, { clientId: 'rotating' });
  const status = async (client_secret: string, app = two.app) =>
    (
      await app.inject({
        method: 'POST',
        url: '/oauth/token',
        payload: { grant_type: 'client_credentials', client_id: clientId, client_secret },
      })
    ).statusCode;
  const second = await rotateSecret(one.ctx, clientId, 3600);
  expect([await status(first), await status(second)]).toEqual([200, 200]);
  const third = await rotateSecret(one.ctx, clientId, 3600);
  expect([await status(first), await status(second), await status(third)]).toEqual([401, 200, 200]);
  await one.ctx.pool.query(`update oauth_clients set previous_secret_until = now() where client_id = $1`, [
    clientId,
  ]);
  expect([await status(second), await status(third)]).toEqual([401, 200]);
  await rotateSecret(one.ctx, clientId, 0);
  expect(await status(third)).toBe(401);
});
