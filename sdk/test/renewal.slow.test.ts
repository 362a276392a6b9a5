import { createServer } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { browserToken, createCauseway } from '../src/index.ts';
import {
  cookieSessions,
  createHandler,
  partnerClient,
  renewSession,
  type Session,
  type SessionStore,
  toNode,
  userClient,
} from '../src/server/index.ts';
import { newBrowser } from './browser.ts';
import { FROM_PAGE, type PartnerApp, startPartnerApp } from './partner-app.ts';

let app: PartnerApp;
beforeAll(async () => {
  app = await startPartnerApp();
}, 180_000);
afterAll(() => app?.close());
beforeEach(() => app.reset());

describe('renewal', () => {
  test('happens once for concurrent requests, and an old cookie continues with the new tokens', async () => {
    const browser = newBrowser();
    await app.completeSignIn(browser);
    const before = (await app.fetchAsPage(browser, '/causeway/token')).body.access_token;
    const cookie = [...browser.cookies('127.0.0.1')].map(([name, value]) => `${name}=${value}`).join('; ');
    app.grants.length = 0;
    app.clock.skewMs = 14.5 * 60_000;
    const fetchWithOldCookie = (path = '/causeway/token') =>
      fetch(app.url + path, { headers: { ...FROM_PAGE, cookie } }).then((reply) => reply.json());
    const tokens = await Promise.all(Array.from({ length: 20 }, () => fetchWithOldCookie()));
    expect(new Set(tokens.map(({ access_token }) => access_token)).size).toBe(1);
    expect(tokens[0].access_token).not.toBe(before);
    expect((await fetchWithOldCookie()).access_token).toBe(tokens[0].access_token);
    expect(app.grants).toEqual(['refresh_token']);
  });

  test('of a session in a cookie happens before the page, and the page reads the new one', async () => {
    const now = () => Date.now() + app.clock.skewMs;
    const store = cookieSessions({ secret: 'c'.repeat(40), secure: false, now });
    const signIn = app.newSignIn({ store });
    const { url, pending } = signIn.authorizeUrl();
    const session = await signIn.exchange(await newBrowser().authorize(url, app.user, 'allow'), pending);
    const saved = new Headers();
    await store.save({ headers: {} }, saved, session);
    const cookie = `theme=dark; ${saved.getSetCookie()[0]?.split(';')[0]}`;
    expect(await renewSession(signIn, { headers: { cookie } })).toBeUndefined();
    app.clock.skewMs = 14.5 * 60_000;
    // Acts as another process, which has not seen the session before.
    const renewed = await renewSession(app.newSignIn({ store }), { headers: { cookie } });
    expect(renewed?.cookie).toMatch(/^theme=dark; causeway_session=/);
    const found = await store.load({ headers: { cookie: renewed?.cookie } });
    expect([found?.id, found?.accessToken === session.accessToken]).toEqual([session.id, false]);
    expect(renewed?.headers.getSetCookie()[0]).toContain(renewed?.cookie.split('causeway_session=')[1]);
    await signIn.signOut(session);
    app.clock.skewMs = 30 * 60_000;
    const ended = await renewSession(app.newSignIn({ store }), { headers: { cookie } });
    expect([ended?.cookie, ended?.headers.getSetCookie()[0]]).toEqual([
      'theme=dark',
      expect.stringContaining('Max-Age=0'),
    ]);
  });

  test('is rate limited for a page that forces it repeatedly', async () => {
    const browser = newBrowser();
    await app.completeSignIn(browser);
    app.grants.length = 0;
    app.clock.skewMs = 20_000;
    for (let turn = 0; turn < 5; turn++) await app.fetchAsPage(browser, '/causeway/token?refresh=1');
    expect(app.grants).toEqual(['refresh_token']);
  });

  test('works in two processes at the same time', async () => {
    const { url, pending } = app.signIn.authorizeUrl();
    const session = await app.signIn.exchange(await newBrowser().authorize(url, app.user, 'allow'), pending);
    app.clock.skewMs = 14.5 * 60_000;
    const both = await Promise.all([app.newSignIn().fresh(session), app.newSignIn().fresh(session)]);
    for (const { accessToken } of both)
      await createCauseway({ baseUrl: app.sandbox.url, accessToken }).offers.list();
  });

  test('clears the cookie of a session whose grant was revoked', async () => {
    const browser = newBrowser();
    await app.completeSignIn(browser);
    const loaded = await app.signIn.store.load({
      headers: { cookie: `causeway_session=${browser.cookies('127.0.0.1').get('causeway_session')}` },
    });
    if (loaded === undefined) throw new Error('no session');
    await app.signIn.signOut(loaded);
    app.clock.skewMs = 20_000;
    const { status, body } = await app.fetchAsPage(browser, '/causeway/token?refresh=1');
    expect([status, body.code]).toEqual([401, 'not_signed_in']);
    expect(browser.cookies('127.0.0.1').has('causeway_session')).toBe(false);
  });

  test('returns a valid token while the service is unavailable, and 503 for an expired one', async () => {
    const browser = newBrowser();
    await app.completeSignIn(browser);
    const handler = createHandler(
      app.newSignIn({ fetch: async () => Promise.reject(new TypeError('fetch failed')) }),
    );
    const base = await app.listen(createServer(toNode(handler)));
    app.clock.skewMs = 14.5 * 60_000;
    expect((await app.fetchAsPage(browser, '/causeway/token', {}, base)).status).toBe(200);
    app.clock.skewMs = 16 * 60_000;
    expect((await app.fetchAsPage(browser, '/causeway/token', {}, base)).body.code).toBe(
      'upstream_unavailable',
    );
    expect(browser.cookies('127.0.0.1').has('causeway_session')).toBe(true);
  });
});

describe('clients', () => {
  test('userClient renews a rejected token and returns its cookie in the headers', async () => {
    const { url, pending } = app.signIn.authorizeUrl();
    const session = await app.signIn.exchange(await newBrowser().authorize(url, app.user, 'allow'), pending);
    const reply = new Headers();
    await app.signIn.store.save({ headers: {} }, reply, { ...session, accessToken: 'expired' });
    const cookie = reply.getSetCookie()[0]?.split(';')[0] ?? '';
    app.clock.skewMs = 20_000;
    const found = await userClient(app.signIn, { headers: { cookie } }, { baseUrl: app.sandbox.url });
    expect((await found?.causeway.offers.list())?.data.length).toBeGreaterThan(0);
    expect(found?.headers.getSetCookie().length).toBe(1);
    expect(await userClient(app.signIn, new Request(app.url), { baseUrl: app.sandbox.url })).toBeUndefined();
  });

  test('browserToken fetches one token for concurrent calls', async () => {
    const browser = newBrowser();
    await app.completeSignIn(browser);
    let requests = 0;
    const accessToken = browserToken({
      url: `${app.url}/causeway/token`,
      fetch: (input, init) => {
        requests++;
        return browser.fetch(String(input), init);
      },
    });
    const causeway = createCauseway({ baseUrl: app.sandbox.url, accessToken });
    await Promise.all([causeway.offers.list(), causeway.participations.list(), causeway.offers.list()]);
    expect(requests).toBe(1);
    const anonymous = createCauseway({
      ...{ baseUrl: app.sandbox.url, accessToken: browserToken({ url: `${app.url}/causeway/token` }) },
    });
    await expect(anonymous.offers.list()).rejects.toMatchObject({ code: 'not_signed_in', status: 401 });
  });

  test('partnerClient requests one token for concurrent calls', async () => {
    const { client_id, client_secret } = app.sandbox.overview.partner;
    let tokens = 0;
    const partner = partnerClient({
      ...{ baseUrl: app.sandbox.url, clientId: client_id, clientSecret: client_secret },
      fetch: (input, init) => {
        if (String(input).endsWith('/oauth/token')) tokens++;
        return fetch(input, init);
      },
    });
    await Promise.all([
      partner.offers.list(),
      partner.participations.list(),
      partner.offers.get('treasury-fund'),
    ]);
    expect(tokens).toBe(1);
    await expect(partner.pii.get()).rejects.toMatchObject({ status: 403 });
    const wrong = partnerClient({ baseUrl: app.sandbox.url, clientId: client_id, clientSecret: 'wrong' });
    await expect(wrong.offers.list()).rejects.toMatchObject({ name: 'CausewayError', status: 401 });
  });
});

test('sessions can be sessions in a custom store', async () => {
  const sessions = new Map<string, Session>();
  const idOf = (cookies: string | null | undefined) => /sid=([^;]+)/.exec(cookies ?? '')?.[1] ?? '';
  const store: SessionStore = {
    load: async ({ headers }) => sessions.get(idOf(headers instanceof Headers ? headers.get('cookie') : '')),
    save: async (_request, reply, session) => {
      sessions.set(session.id, session);
      reply.append('set-cookie', `sid=${session.id}; Path=/; HttpOnly; SameSite=Lax`);
    },
    clear: async ({ headers }, reply) => {
      sessions.delete(idOf(headers instanceof Headers ? headers.get('cookie') : ''));
      reply.append('set-cookie', 'sid=; Path=/; Max-Age=0');
    },
  };
  const base = await app.listen(createServer(toNode(createHandler(app.newSignIn({ store })))));
  const browser = newBrowser();
  await app.completeSignIn(browser, { base });
  expect([...browser.cookies('127.0.0.1').keys()].filter((name) => name === 'causeway_session')).toEqual([]);
  expect((await app.fetchAsPage(browser, '/causeway/session', {}, base)).body.signed_in).toBe(true);
  app.clock.skewMs = 14.5 * 60_000;
  expect((await app.fetchAsPage(browser, '/causeway/token', {}, base)).status).toBe(200);
  await app.fetchAsPage(browser, '/causeway/sign-out', { method: 'POST' }, base);
  expect(sessions.size).toBe(0);
});
