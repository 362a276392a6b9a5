import { createServer } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { browserToken, createCauseway } from '../src/index.ts';
import {
  createHandler,
  partnerClient,
  type Session,
  type SessionStore,
  toNode,
  userClient,
} from '../src/server/index.ts';
import { FROM_PAGE, type PartnerApp, startPartnerApp } from './partner-app.ts';
import { newPerson } from './person.ts';

let app: PartnerApp;
beforeAll(async () => {
  app = await startPartnerApp();
}, 180_000);
afterAll(() => app?.close());
beforeEach(() => app.reset());

describe('renewal', () => {
  test('many requests at once renew once, and the old cookie goes on with what is new', async () => {
    const person = newPerson();
    await app.walk(person);
    const before = (await app.ask(person, '/causeway/token')).body.access_token;
    const cookie = [...person.cookies('127.0.0.1')].map(([name, value]) => `${name}=${value}`).join('; ');
    app.grants.length = 0;
    app.clock.skew = 14.5 * 60_000;
    const asOld = (path = '/causeway/token') =>
      fetch(app.url + path, { headers: { ...FROM_PAGE, cookie } }).then((reply) => reply.json());
    const tokens = await Promise.all(Array.from({ length: 20 }, () => asOld()));
    expect(new Set(tokens.map(({ access_token }) => access_token)).size).toBe(1);
    expect(tokens[0].access_token).not.toBe(before);
    expect((await asOld()).access_token).toBe(tokens[0].access_token);
    expect(app.grants).toEqual(['refresh_token']);
  });

  test('a page that asks for a new token again and again gets one now and then', async () => {
    const person = newPerson();
    await app.walk(person);
    app.grants.length = 0;
    app.clock.skew = 20_000;
    for (let turn = 0; turn < 5; turn++) await app.ask(person, '/causeway/token?refresh=1');
    expect(app.grants).toEqual(['refresh_token']);
  });

  test('two processes that renew at once both go on', async () => {
    const { url, pending } = app.signIn.authorizeUrl();
    const session = await app.signIn.exchange(await newPerson().decide(url, app.user, 'allow'), pending);
    app.clock.skew = 14.5 * 60_000;
    const both = await Promise.all([app.newSignIn().fresh(session), app.newSignIn().fresh(session)]);
    for (const { accessToken } of both)
      await createCauseway({ baseUrl: app.sandbox.url, accessToken }).offers.list();
  });

  test('a session whose grant has ended is over, and its cookie goes', async () => {
    const person = newPerson();
    await app.walk(person);
    const loaded = await app.signIn.store.load({
      headers: { cookie: `causeway_session=${person.cookies('127.0.0.1').get('causeway_session')}` },
    });
    if (loaded === undefined) throw new Error('there is no session');
    await app.signIn.signOut(loaded);
    app.clock.skew = 20_000;
    const { status, body } = await app.ask(person, '/causeway/token?refresh=1');
    expect([status, body.code]).toEqual([401, 'not_signed_in']);
    expect(person.cookies('127.0.0.1').has('causeway_session')).toBe(false);
  });

  test('while the service is away a token that still lives is given, and a dead one is 503', async () => {
    const person = newPerson();
    await app.walk(person);
    const away = createHandler(
      app.newSignIn({ fetch: async () => Promise.reject(new TypeError('fetch failed')) }),
    );
    const base = await app.listen(createServer(toNode(away)));
    app.clock.skew = 14.5 * 60_000;
    expect((await app.ask(person, '/causeway/token', {}, base)).status).toBe(200);
    app.clock.skew = 16 * 60_000;
    expect((await app.ask(person, '/causeway/token', {}, base)).body.code).toBe('upstream_unavailable');
    expect(person.cookies('127.0.0.1').has('causeway_session')).toBe(true);
  });
});

describe('clients', () => {
  test('one for the user of a request, which renews a refused token and tells the reply', async () => {
    const { url, pending } = app.signIn.authorizeUrl();
    const session = await app.signIn.exchange(await newPerson().decide(url, app.user, 'allow'), pending);
    const reply = new Headers();
    await app.signIn.store.save({ headers: {} }, reply, { ...session, accessToken: 'of-yesterday' });
    const cookie = reply.getSetCookie()[0]?.split(';')[0] ?? '';
    app.clock.skew = 20_000;
    const found = await userClient(app.signIn, { headers: { cookie } }, { baseUrl: app.sandbox.url });
    expect((await found?.causeway.offers.list())?.data.length).toBeGreaterThan(0);
    expect(found?.headers.getSetCookie().length).toBe(1);
    expect(await userClient(app.signIn, new Request(app.url), { baseUrl: app.sandbox.url })).toBeUndefined();
  });

  test('one for the page, by its own server', async () => {
    const person = newPerson();
    await app.walk(person);
    let asked = 0;
    const accessToken = browserToken({
      url: `${app.url}/causeway/token`,
      fetch: (input, init) => {
        asked++;
        return person.ask(String(input), init);
      },
    });
    const causeway = createCauseway({ baseUrl: app.sandbox.url, accessToken });
    await Promise.all([causeway.offers.list(), causeway.participations.list(), causeway.offers.list()]);
    expect(asked).toBe(1);
    const nobody = createCauseway({
      ...{ baseUrl: app.sandbox.url, accessToken: browserToken({ url: `${app.url}/causeway/token` }) },
    });
    await expect(nobody.offers.list()).rejects.toMatchObject({ code: 'not_signed_in', status: 401 });
  });

  test('one for the partner, with one token for many calls', async () => {
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

test('sessions can be kept elsewhere than in a cookie', async () => {
  const kept = new Map<string, Session>();
  const idOf = (cookies: string | null | undefined) => /sid=([^;]+)/.exec(cookies ?? '')?.[1] ?? '';
  const store: SessionStore = {
    load: async ({ headers }) => kept.get(idOf(headers instanceof Headers ? headers.get('cookie') : '')),
    save: async (_request, reply, session) => {
      kept.set(session.id, session);
      reply.append('set-cookie', `sid=${session.id}; Path=/; HttpOnly; SameSite=Lax`);
    },
    clear: async ({ headers }, reply) => {
      kept.delete(idOf(headers instanceof Headers ? headers.get('cookie') : ''));
      reply.append('set-cookie', 'sid=; Path=/; Max-Age=0');
    },
  };
  const base = await app.listen(createServer(toNode(createHandler(app.newSignIn({ store })))));
  const person = newPerson();
  await app.walk(person, { base });
  expect([...person.cookies('127.0.0.1').keys()].filter((name) => name === 'causeway_session')).toEqual([]);
  expect((await app.ask(person, '/causeway/session', {}, base)).body.signed_in).toBe(true);
  app.clock.skew = 14.5 * 60_000;
  expect((await app.ask(person, '/causeway/token', {}, base)).status).toBe(200);
  await app.ask(person, '/causeway/sign-out', { method: 'POST' }, base);
  expect(kept.size).toBe(0);
});
