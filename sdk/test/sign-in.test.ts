import { inspect } from 'node:util';
import Fastify from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createCauseway } from '../src/index.ts';
import { isSignInError, SignInError, toFastify } from '../src/server/index.ts';
import { COOKIE_SECRET, FROM_PAGE, type PartnerApp, startPartnerApp } from './partner-app.ts';
import { newPerson } from './person.ts';

let app: PartnerApp;
beforeAll(async () => {
  app = await startPartnerApp();
}, 180_000);
afterAll(() => app?.close());
beforeEach(() => app.reset());

describe('the whole code flow', () => {
  test('ends on the page that asked, signed in, with a token for the page and none that renews it', async () => {
    const person = newPerson();
    expect((await app.ask(person, '/causeway/session')).body).toEqual({ signed_in: false });
    const back = await app.walk(person);
    expect([back.status, back.headers.get('location')]).toEqual([303, '/offers?x=1']);
    expect(back.headers.get('cache-control')).toBe('no-store');
    const { body: session } = await app.ask(person, '/causeway/session');
    expect(session).toMatchObject({ signed_in: true, user: { id: app.user.id, email: app.user.email } });
    const { body, headers } = await app.ask(person, '/causeway/token');
    expect(Object.keys(body).sort()).toEqual(['access_token', 'expires_at', 'expires_in']);
    expect(headers.get('cache-control')).toBe('no-store');
    const causeway = createCauseway({ baseUrl: app.sandbox.url, accessToken: String(body.access_token) });
    expect((await causeway.offers.list()).data.length).toBeGreaterThan(0);
    const cookies = [...person.cookies('127.0.0.1')].filter(([name]) => name.startsWith('causeway_'));
    expect(cookies.map(([name]) => name)).toContain('causeway_session');
    expect(JSON.stringify(cookies)).not.toContain(body.access_token);
  });

  test('works as a web handler and as a Fastify plugin', async () => {
    const fastify = Fastify();
    await fastify.register(toFastify(app.handler));
    fastify.get('/', async () => 'the app');
    const base = await fastify.listen({ host: '127.0.0.1', port: 0 });
    const person = newPerson();
    expect((await app.walk(person, { base })).headers.get('location')).toBe('/offers?x=1');
    const form = {
      method: 'POST',
      body: new URLSearchParams(),
      headers: { origin: 'http://localhost:3000' },
    };
    const cookie = [...person.cookies('127.0.0.1')].map(([name, value]) => `${name}=${value}`).join('; ');
    const asWeb = await app.handler(
      new Request(`${base}/causeway/session`, { headers: { ...FROM_PAGE, cookie } }),
    );
    expect((await asWeb.json()).signed_in).toBe(true);
    const out = await person.ask(`${base}/causeway/sign-out?return_to=/bye`, form);
    expect([out.status, out.headers.get('location')]).toEqual([303, '/bye']);
    expect((await app.ask(person, '/causeway/session', {}, base)).body.signed_in).toBe(false);
    await fastify.close();
  });

  test('a secret in the body does as well', async () => {
    const other = app.newSignIn({ clientAuth: 'body' });
    const { url, pending } = other.authorizeUrl();
    const back = await newPerson().decide(url, app.user, 'allow');
    const session = await other.exchange(back, pending);
    expect(session.user?.email).toBe(app.user.email);
    expect(inspect(session)).not.toContain(session.accessToken);
    expect(inspect(session)).not.toContain(session.refreshToken);
  });

  test('signing in again is another session', async () => {
    const person = newPerson();
    const ids = [];
    for (let turn = 0; turn < 2; turn++) {
      await app.walk(person);
      const cookie = `causeway_session=${person.cookies('127.0.0.1').get('causeway_session')}`;
      ids.push((await app.signIn.store.load({ headers: { cookie } }))?.id);
    }
    expect(new Set(ids).size).toBe(2);
  });

  test('signing out ends the tokens at the service', async () => {
    const person = newPerson();
    await app.walk(person);
    const { access_token } = (await app.ask(person, '/causeway/token')).body;
    const { status, body } = await app.ask(person, '/causeway/sign-out', { method: 'POST' });
    expect([status, body]).toEqual([200, { signed_in: false }]);
    const causeway = createCauseway({ baseUrl: app.sandbox.url, accessToken: String(access_token) });
    await expect(causeway.pii.get()).rejects.toMatchObject({ code: 'unauthorized' });
    expect((await app.ask(person, '/causeway/token')).body.code).toBe('not_signed_in');
  });

  test('paths that are not its own go on to the app', async () => {
    expect(await (await fetch(`${app.url}/`)).text()).toBe('the app');
    const other = await fetch(`${app.url}/causeway/token`, { method: 'POST' });
    expect([other.status, other.headers.get('allow')]).toEqual([405, 'GET']);
  });
});

describe('failures on the way back', () => {
  const errorOf = (reply: Response) => reply.headers.get('location');

  test('a denied consent returns to the page with access_denied', async () => {
    const person = newPerson();
    const back = await app.walk(person, { decision: 'deny' });
    expect(errorOf(back)).toBe('/offers?x=1&causeway_error=access_denied');
    expect((await app.ask(person, '/causeway/session')).body.signed_in).toBe(false);
  });

  test('an answer to a sign-in that another browser began is refused, and nothing is exchanged', async () => {
    const attacker = newPerson();
    const begun = await attacker.ask(`${app.url}/causeway/sign-in`);
    const { search } = await attacker.decide(begun.headers.get('location') ?? '', app.user, 'allow');
    const victim = newPerson();
    await victim.ask(`${app.url}/causeway/sign-in`);
    expect(errorOf(await victim.ask(`${app.url}/callback${search}`))).toBe('/?causeway_error=state_mismatch');
    expect(app.grants).toEqual([]);
    expect((await app.ask(victim, '/causeway/session')).body.signed_in).toBe(false);
  });

  test('an answer of another server, one that took too long and one with a bad code are refused', async () => {
    const begin = async () => {
      const person = newPerson();
      const begun = await person.ask(`${app.url}/causeway/sign-in`);
      const state = new URL(begun.headers.get('location') ?? '').searchParams.get('state') ?? '';
      const answer = (more: Record<string, string>) =>
        person.ask(
          `${app.url}/callback?${new URLSearchParams({ code: 'c', state, iss: app.sandbox.url, ...more })}`,
        );
      return answer;
    };
    expect(errorOf(await (await begin())({ iss: 'https://evil.test' }))).toContain('=issuer_mismatch');
    const late = await begin();
    app.clock.skew = 11 * 60_000;
    expect(errorOf(await late({}))).toContain('=expired');
    app.clock.skew = 0;
    expect(app.grants).toEqual([]);
    expect(errorOf(await (await begin())({}))).toContain('=refused');
    expect(app.errors.some((error) => isSignInError(error, 'refused'))).toBe(true);
    expect(errorOf(await (await begin())({ error: '<script>' }))).toBe('/?causeway_error=refused');
  });

  test('an answer that is delivered twice at once is exchanged once, and the session lives', async () => {
    const person = newPerson();
    const begun = await person.ask(`${app.url}/causeway/sign-in`);
    const { search } = await person.decide(begun.headers.get('location') ?? '', app.user, 'allow');
    const replies = await Promise.all([1, 2, 3].map(() => person.ask(`${app.url}/callback${search}`)));
    expect(replies.map(errorOf)).toEqual(['/', '/', '/']);
    expect(app.grants).toEqual(['authorization_code']);
    expect((await app.ask(person, '/causeway/token?refresh=1')).status).toBe(200);
    expect(errorOf(await person.ask(`${app.url}/callback${search}`))).toBe('/?causeway_error=state_mismatch');
  });

  test('two tabs can sign in side by side', async () => {
    const person = newPerson();
    const urls = [];
    for (const path of ['/one', '/two'])
      urls.push(
        (await person.ask(`${app.url}/causeway/sign-in?return_to=${path}`)).headers.get('location') ?? '',
      );
    for (const [index, path] of ['/one', '/two'].entries()) {
      const { search } = await person.decide(urls[index] ?? '', app.user, 'allow');
      expect(errorOf(await person.ask(`${app.url}/callback${search}`))).toBe(path);
    }
  });

  test('a browser never holds more than a few begun sign-ins', async () => {
    const person = newPerson();
    for (let tabs = 0; tabs < 9; tabs++) await person.ask(`${app.url}/causeway/sign-in`);
    const held = [...person.cookies('127.0.0.1').keys()].filter((name) => name.includes('pending'));
    expect(held.length).toBe(4);
  });
});

test('neither secrets nor codes nor tokens are in errors or in what is shown of the objects', async () => {
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
  const shown = [...failed, app.signIn, app.handler]
    .flatMap((one) => [inspect(one, { depth: 9, showHidden: true }), JSON.stringify(one)])
    .join('\n');
  const basic = Buffer.from(`sandbox-partner:${client_secret}`).toString('base64');
  for (const secret of [client_secret, basic, COOKIE_SECRET, 'the-code-itself', pending.verifier, state])
    expect(shown).not.toContain(secret);
});
