import { inspect } from 'node:util';
import Fastify from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createCauseway } from '../src/index.ts';
import { isSignInError, SignInError, toFastify } from '../src/server/index.ts';
import { newBrowser } from './browser.ts';
import { COOKIE_SECRET, FROM_PAGE, type PartnerApp, startPartnerApp } from './partner-app.ts';

let app: PartnerApp;
beforeAll(async () => {
  app = await startPartnerApp();
}, 180_000);
afterAll(() => app?.close());
beforeEach(() => app.reset());

describe('sign-in', () => {
  test('returns to the page, signed in, with an access token for the page but no refresh token', async () => {
    const browser = newBrowser();
    expect((await app.fetchAsPage(browser, '/causeway/session')).body).toEqual({ signed_in: false });
    const back = await app.completeSignIn(browser);
    expect([back.status, back.headers.get('location')]).toEqual([303, '/offers?x=1']);
    expect(back.headers.get('cache-control')).toBe('no-store');
    const { body: session } = await app.fetchAsPage(browser, '/causeway/session');
    expect(session).toMatchObject({ signed_in: true, user: { id: app.user.id, email: app.user.email } });
    const { body, headers } = await app.fetchAsPage(browser, '/causeway/token');
    expect(Object.keys(body).sort()).toEqual(['access_token', 'expires_at', 'expires_in']);
    expect(headers.get('cache-control')).toBe('no-store');
    const causeway = createCauseway({ baseUrl: app.sandbox.url, accessToken: String(body.access_token) });
    expect((await causeway.offers.list()).data.length).toBeGreaterThan(0);
    const cookies = [...browser.cookies('127.0.0.1')].filter(([name]) => name.startsWith('causeway_'));
    expect(cookies.map(([name]) => name)).toContain('causeway_session');
    expect(JSON.stringify(cookies)).not.toContain(body.access_token);
    // The cookie is a random id: the tokens stay on the server.
    expect(browser.cookies('127.0.0.1').get('causeway_session')).toMatch(/^[\w-]{43}$/);
  });

  test('works as a web handler and as a Fastify plugin', async () => {
    const fastify = Fastify();
    await fastify.register(toFastify(app.handler));
    fastify.get('/', async () => 'the app');
    const base = await fastify.listen({ host: '127.0.0.1', port: 0 });
    const browser = newBrowser();
    expect((await app.completeSignIn(browser, { base })).headers.get('location')).toBe('/offers?x=1');
    const form = {
      method: 'POST',
      body: new URLSearchParams(),
      headers: { origin: 'http://localhost:3000' },
    };
    const cookie = [...browser.cookies('127.0.0.1')].map(([name, value]) => `${name}=${value}`).join('; ');
    const asWeb = await app.handler(
      new Request(`${base}/causeway/session`, { headers: { ...FROM_PAGE, cookie } }),
    );
    expect((await asWeb.json()).signed_in).toBe(true);
    const out = await browser.fetch(`${base}/causeway/sign-out?return_to=/bye`, form);
    expect([out.status, out.headers.get('location')]).toEqual([303, '/bye']);
    expect((await app.fetchAsPage(browser, '/causeway/session', {}, base)).body.signed_in).toBe(false);
    await fastify.close();
  });

  test('can send the client secret in the body', async () => {
    const other = app.newSignIn({ clientAuth: 'body' });
    const { url, pending } = other.authorizeUrl();
    const back = await newBrowser().authorize(url, app.user, 'allow');
    const session = await other.exchange(back, pending);
    expect(session.user?.email).toBe(app.user.email);
    expect(inspect(session)).not.toContain(session.accessToken);
    expect(inspect(session)).not.toContain(session.refreshToken);
  });

  test('creates a new session every time', async () => {
    const browser = newBrowser();
    const ids = [];
    for (let turn = 0; turn < 2; turn++) {
      await app.completeSignIn(browser);
      const cookie = `causeway_session=${browser.cookies('127.0.0.1').get('causeway_session')}`;
      ids.push((await app.signIn.store.load({ headers: { cookie } }))?.id);
    }
    expect(new Set(ids).size).toBe(2);
  });

  test('is undone by signing out, which revokes the tokens', async () => {
    const browser = newBrowser();
    await app.completeSignIn(browser);
    const { access_token } = (await app.fetchAsPage(browser, '/causeway/token')).body;
    const { status, body } = await app.fetchAsPage(browser, '/causeway/sign-out', { method: 'POST' });
    expect([status, body]).toEqual([200, { signed_in: false }]);
    const causeway = createCauseway({ baseUrl: app.sandbox.url, accessToken: String(access_token) });
    await expect(causeway.pii.get()).rejects.toMatchObject({ code: 'unauthorized' });
    expect((await app.fetchAsPage(browser, '/causeway/token')).body.code).toBe('not_signed_in');
  });

  test('passes other paths on to the app', async () => {
    expect(await (await fetch(`${app.url}/`)).text()).toBe('the app');
    const other = await fetch(`${app.url}/causeway/token`, { method: 'POST' });
    expect([other.status, other.headers.get('allow')]).toEqual([405, 'GET']);
  });
});

describe('the callback', () => {
  const locationOf = (reply: Response) => reply.headers.get('location');

  test('returns to the page with access_denied if the user denies access', async () => {
    const browser = newBrowser();
    const user = await app.sandbox.newUser();
    const back = await app.completeSignIn(browser, { decision: 'deny', user });
    expect(locationOf(back)).toBe('/offers?x=1&causeway_error=access_denied');
    expect((await app.fetchAsPage(browser, '/causeway/session')).body.signed_in).toBe(false);
  });

  test('rejects a response for another browser and exchanges nothing', async () => {
    const attacker = newBrowser();
    const start = await attacker.fetch(`${app.url}/causeway/sign-in`);
    const { search } = await attacker.authorize(start.headers.get('location') ?? '', app.user, 'allow');
    const victim = newBrowser();
    await victim.fetch(`${app.url}/causeway/sign-in`);
    expect(locationOf(await victim.fetch(`${app.url}/callback${search}`))).toBe(
      '/?causeway_error=state_mismatch',
    );
    expect(app.grants).toEqual([]);
    expect((await app.fetchAsPage(victim, '/causeway/session')).body.signed_in).toBe(false);
  });

  test('rejects a response from another issuer, a late one and one with an invalid code', async () => {
    const start = async () => {
      const browser = newBrowser();
      const start = await browser.fetch(`${app.url}/causeway/sign-in`);
      const state = new URL(start.headers.get('location') ?? '').searchParams.get('state') ?? '';
      return (parameters: Record<string, string>) =>
        browser.fetch(
          `${app.url}/callback?${new URLSearchParams({ code: 'c', state, iss: app.sandbox.url, ...parameters })}`,
        );
    };
    expect(locationOf(await (await start())({ iss: 'https://evil.test' }))).toContain('=issuer_mismatch');
    const late = await start();
    app.clock.skewMs = 11 * 60_000;
    expect(locationOf(await late({}))).toContain('=expired');
    app.clock.skewMs = 0;
    expect(app.grants).toEqual([]);
    expect(locationOf(await (await start())({}))).toContain('=refused');
    expect(app.errors.some((error) => isSignInError(error, 'refused'))).toBe(true);
    expect(locationOf(await (await start())({ error: '<script>' }))).toBe('/?causeway_error=refused');
  });

  test('exchanges a response once even if it is delivered concurrently, and the session stays valid', async () => {
    const browser = newBrowser();
    const start = await browser.fetch(`${app.url}/causeway/sign-in`);
    const { search } = await browser.authorize(start.headers.get('location') ?? '', app.user, 'allow');
    const replies = await Promise.all([1, 2, 3].map(() => browser.fetch(`${app.url}/callback${search}`)));
    expect(replies.map(locationOf)).toEqual(['/', '/', '/']);
    expect(app.grants).toEqual(['authorization_code']);
    expect((await app.fetchAsPage(browser, '/causeway/token?refresh=1')).status).toBe(200);
    expect(locationOf(await browser.fetch(`${app.url}/callback${search}`))).toBe(
      '/?causeway_error=state_mismatch',
    );
  });

  test('supports sign-ins in two tabs at the same time', async () => {
    const browser = newBrowser();
    const urls = [];
    for (const path of ['/one', '/two'])
      urls.push(
        (await browser.fetch(`${app.url}/causeway/sign-in?return_to=${path}`)).headers.get('location') ?? '',
      );
    for (const [index, path] of ['/one', '/two'].entries()) {
      const { search } = await browser.authorize(urls[index] ?? '', app.user, 'allow');
      expect(locationOf(await browser.fetch(`${app.url}/callback${search}`))).toBe(path);
    }
  });

  test('leaves at most four unfinished sign-ins in a browser', async () => {
    const browser = newBrowser();
    for (let tabs = 0; tabs < 9; tabs++) await browser.fetch(`${app.url}/causeway/sign-in`);
    const pendingCookies = [...browser.cookies('127.0.0.1').keys()].filter((name) =>
      name.includes('pending'),
    );
    expect(pendingCookies.length).toBe(4);
  });
});

test('errors and logged objects contain no secrets, codes or tokens', async () => {
  const { client_secret } = app.sandbox.overview.partner;
  const { url, pending } = app.signIn.authorizeUrl();
  const state = new URL(url).searchParams.get('state') ?? '';
  const callback = new URLSearchParams({ code: 'the-code-itself', state, iss: app.sandbox.url });
  const away = app.newSignIn({ baseUrl: 'http://127.0.0.1:1', issuer: app.sandbox.url });
  const failed = [
    await app.signIn.exchange(callback, pending).catch((error) => error),
    await away.exchange(callback, pending).catch((error) => error),
    await app.signIn.exchange(callback, undefined).catch((error) => error),
  ];
  expect(failed.map(({ code }) => code)).toEqual(['refused', 'unavailable', 'state_mismatch']);
  expect(failed.every((error) => error instanceof SignInError)).toBe(true);
  const logged = [...failed, app.signIn, app.handler]
    .flatMap((value) => [inspect(value, { depth: 9, showHidden: true }), JSON.stringify(value)])
    .join('\n');
  const basic = Buffer.from(`sandbox-partner:${client_secret}`).toString('base64');
  for (const secret of [client_secret, basic, COOKIE_SECRET, 'the-code-itself', pending.verifier, state])
    expect(logged).not.toContain(secret);
});
