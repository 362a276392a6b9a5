import type { FastifyInstance } from 'fastify';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PASSWORD, type Site, startSite } from '../../../test/support/site.ts';
import { newVisitor, type Visitor } from '../../../test/support/visitor.ts';
import { setScopes } from '../partners/partner.ts';

let site: Site;
beforeAll(async () => {
  site = await startSite();
});
afterAll(() => site.close());

const pathOf = (url: string) => new URL(url).pathname + new URL(url).search;

async function signedIn(email: string): Promise<Visitor> {
  const visitor = newVisitor(site.app as FastifyInstance);
  await visitor.get('/sign-in');
  await visitor.post('/sign-in', { email, password: PASSWORD });
  return visitor;
}

/** Follows redirects on our site. Returns the consent page or, after a redirect to the partner's site, the code. */
async function authorize(visitor: Visitor, scope: string) {
  const { url, verifier } = site.authorizeUrl({ scope });
  let reply = await visitor.get(pathOf(url));
  for (;;) {
    const { location } = reply.headers;
    if (typeof location !== 'string') return { page: reply.body, code: null, verifier };
    const target = new URL(location, site.url);
    if (target.origin !== new URL(site.url).origin)
      return { page: null, code: String(target.searchParams.get('code')), verifier };
    reply = await visitor.get(target.pathname + target.search);
  }
}

async function allow(visitor: Visitor, page: string | null, verifier: string) {
  const path = /action="(\/interaction\/[^"]+)"/.exec(page ?? '')?.[1] ?? '';
  let { location = '' } = (await visitor.post(path, { decision: 'allow' })).headers;
  while (!location.startsWith(site.partner.redirectUri)) {
    ({ location = '' } = (await visitor.get(pathOf(new URL(location, site.url).href))).headers);
  }
  return exchange(String(new URL(location).searchParams.get('code')), verifier);
}

async function token(parameters: Record<string, string>) {
  const { clientId, secret } = site.partner;
  const reply = await site.app.inject({
    method: 'POST',
    url: '/oauth/token',
    payload: { client_id: clientId, client_secret: secret, ...parameters },
  });
  return reply.json();
}
const exchange = (code: string, code_verifier: string) =>
  token({ grant_type: 'authorization_code', code, code_verifier, redirect_uri: site.partner.redirectUri });
const refresh = (refresh_token: string) => token({ grant_type: 'refresh_token', refresh_token });

/** Returns the actions of the audit entries about consents. */
async function consents(): Promise<string[]> {
  const { rows } = await sql<{ action: string }>`select entry::jsonb ->> 'action' as action from audit_entries
    where entry::jsonb ->> 'action' like 'consent.%' order by written`.execute(site.ctx.db);
  return rows.map(({ action }) => action);
}

describe('consent', () => {
  const email = 'ada@consent.test';
  beforeAll(async () => {
    await site.makeUser(email);
    const first = await signedIn(email);
    const asked = await authorize(first, 'openid offers:read');
    expect(asked.page).toContain('wants to access your account');
    await allow(first, asked.page, asked.verifier);
  });

  test('is remembered in another browser of the same user', async () => {
    const before = await consents();
    const again = await authorize(await signedIn(email), 'openid offers:read');
    expect(again.page).toBeNull();
    expect((await consents()).slice(before.length)).toEqual(['consent.reused']);
    expect(await exchange(String(again.code), again.verifier)).toMatchObject({ scope: 'openid offers:read' });
  });

  test('is asked for again when the app wants more, and only for that', async () => {
    const before = await consents();
    const visitor = await signedIn(email);
    const { page, verifier } = await authorize(visitor, 'openid offers:read wallets:write');
    expect(page).toContain('Connect and disconnect your wallets');
    expect(page).not.toContain('See the offers in this app');
    await allow(visitor, page, verifier);
    expect((await consents()).slice(before.length)).toEqual([
      'consent.reused',
      'consent.allowed',
      'consent.given',
    ]);
  });

  test('lapses when the redirect URIs of the app change, in every browser', async () => {
    const before = await signedIn(email);
    expect((await authorize(before, 'openid offers:read')).page).toBeNull();
    const uris = [site.partner.redirectUri, 'https://moved.example/callback'];
    await site.ctx.db
      .updateTable('oauth_clients')
      .set({ redirect_uris: uris })
      .where('client_id', '=', site.partner.clientId)
      .execute();
    for (const visitor of [before, await signedIn(email)]) {
      const { page, verifier } = await authorize(visitor, 'openid offers:read');
      expect(page).toContain('wants to access your account');
      if (visitor !== before) await allow(visitor, page, verifier);
    }
    expect((await authorize(await signedIn(email), 'openid offers:read')).page).toBeNull();
  });

  test('of another user does not count, and ends when the app is disconnected', async () => {
    await site.makeUser('bob@consent.test');
    expect((await authorize(await signedIn('bob@consent.test'), 'openid offers:read')).page).not.toBeNull();
    const visitor = await signedIn(email);
    await visitor.get('/account');
    await visitor.post('/account/disconnect', { client_id: site.partner.clientId });
    expect((await authorize(await signedIn(email), 'openid offers:read')).page).not.toBeNull();
  });
});

test('tokens of an app that loses a scope lose it immediately, and do not get it back with the app', async () => {
  const email = 'eve@consent.test';
  await site.makeUser(email);
  const visitor = await signedIn(email);
  const asked = await authorize(visitor, 'openid offers:read pii:read');
  const tokens = await allow(visitor, asked.page, asked.verifier);
  expect(tokens.scope).toBe('openid offers:read pii:read');
  const before = await site.ctx.oauth.findClient(site.partner.clientId);
  const scopes = String((before as unknown as { scopes: string[] }).scopes).split(',');
  await setScopes(
    site.ctx,
    site.partner.clientId,
    scopes.filter((scope) => scope !== 'pii:read'),
  );
  expect((await refresh(tokens.refresh_token)).scope).toBe('openid offers:read');
  await setScopes(site.ctx, site.partner.clientId, scopes);
  expect((await refresh(tokens.refresh_token)).scope).toBe('openid offers:read');
  const account = (await visitor.get('/account')).body;
  expect(account).toContain('See the offers in this app');
  expect(account).not.toContain('See your name');
  const introspect = async (value: string) =>
    (await site.app.inject({ method: 'POST', url: '/oauth/introspect', payload: { token: value } })).json()
      .scope;
  await expect.poll(() => introspect(tokens.access_token)).toBe('openid offers:read');
  const again = await authorize(visitor, 'openid offers:read pii:read');
  expect(again.page).toContain('See your name, date of birth, address and tax number');
  expect((await allow(visitor, again.page, again.verifier)).scope).toBe('openid offers:read pii:read');
});
