import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import Fastify from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { browserToken, createCauseway } from '../src/index.ts';
import {
  createHandler,
  createSignIn,
  type Handler,
  isSignInError,
  partnerClient,
  type SignIn,
  SignInError,
  toFastify,
  toNode,
  userClient,
} from '../src/server/index.ts';
import { newPerson, type Person } from './person.ts';
import { type Sandbox, startSandbox, type User } from './sandbox.ts';

const REDIRECT = 'http://localhost:3000/callback';
const SECRET = 'a-secret-of-the-cookies-of-this-test';
const PAGE = { 'sec-fetch-site': 'same-origin', accept: 'application/json' };

let sandbox: Sandbox;
let user: User;
let signIn: SignIn;
let handler: Handler;
let app: string;
let skew = 0;
const servers: Server[] = [];
const errors: unknown[] = [];
/** What went to the token endpoint. */
const grants: string[] = [];

beforeAll(async () => {
  sandbox = await startSandbox();
  user = await sandbox.newUser();
  signIn = newSignIn();
  handler = createHandler(signIn, { onError: (error) => void errors.push(error) });
  app = await listen(
    createServer((request, response) => toNode(handler)(request, response, () => response.end('the app'))),
  );
}, 180_000);
afterAll(async () => {
  for (const server of servers) server.closeAllConnections();
  await sandbox?.stop();
});
beforeEach(() => {
  skew = 0;
  grants.length = 0;
  errors.length = 0;
});

async function listen(server: Server): Promise<string> {
  servers.push(server);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function newSignIn(more: Partial<Parameters<typeof createSignIn>[0]> = {}): SignIn {
  const { client_id, client_secret } = sandbox.overview.partner;
  return createSignIn({
    ...{ baseUrl: sandbox.url, clientId: client_id, clientSecret: client_secret },
    ...{ redirectUri: REDIRECT, cookieSecret: SECRET, now: () => Date.now() + skew },
    fetch: async (input, init) => {
      grants.push(new URLSearchParams(String(init?.body)).get('grant_type') ?? String(input));
      return fetch(input, init);
    },
    ...more,
  });
}

/** Through the app, the service's pages, and back: gives the app's reply to the callback. */
async function walk(
  person: Person,
  { decision = 'allow' as 'allow' | 'deny', returnTo = '/offers?x=1', base = app } = {},
): Promise<Response> {
  const begun = await person.ask(`${base}/causeway/sign-in?return_to=${encodeURIComponent(returnTo)}`);
  expect(begun.status).toBe(303);
  const back = await person.decide(begun.headers.get('location') ?? '', user, decision);
  expect(back.href.startsWith(`${REDIRECT}?`)).toBe(true);
  return person.ask(`${base}/callback${back.search}`);
}
const ask = async (person: Person, path: string, init: RequestInit = {}, base = app) => {
  const reply = await person.ask(base + path, { headers: PAGE, ...init });
  return { status: reply.status, headers: reply.headers, body: await reply.json() };
};

describe('the whole code flow', () => {
  test('ends on the page that asked, signed in, with a token for the page and none that renews it', async () => {
    const person = newPerson();
    expect((await ask(person, '/causeway/session')).body).toEqual({ signed_in: false });
    const back = await walk(person);
    expect([back.status, back.headers.get('location')]).toEqual([303, '/offers?x=1']);
    expect(back.headers.get('cache-control')).toBe('no-store');
    const { body: session } = await ask(person, '/causeway/session');
    expect(session).toMatchObject({ signed_in: true, user: { id: user.id, email: user.email } });
    const { body, headers } = await ask(person, '/causeway/token');
    expect(Object.keys(body).sort()).toEqual(['access_token', 'expires_at', 'expires_in']);
    expect(headers.get('cache-control')).toBe('no-store');
    const causeway = createCauseway({ baseUrl: sandbox.url, accessToken: body.access_token });
    expect((await causeway.offers.list()).data.length).toBeGreaterThan(0);
    const cookies = [...person.cookies('127.0.0.1')].filter(([name]) => name.startsWith('causeway_'));
    expect(cookies.map(([name]) => name)).toContain('causeway_session');
    expect(JSON.stringify(cookies)).not.toContain(body.access_token);
  });

  test('works as a web handler and as a Fastify plugin', async () => {
    const fastify = Fastify();
    await fastify.register(toFastify(handler));
    fastify.get('/', async () => 'the app');
    const base = await fastify.listen({ host: '127.0.0.1', port: 0 });
    const person = newPerson();
    expect((await walk(person, { base })).headers.get('location')).toBe('/offers?x=1');
    const form = {
      method: 'POST',
      body: new URLSearchParams(),
      headers: { origin: 'http://localhost:3000' },
    };
    const cookie = [...person.cookies('127.0.0.1')].map(([name, value]) => `${name}=${value}`).join('; ');
    const asWeb = await handler(new Request(`${base}/causeway/session`, { headers: { ...PAGE, cookie } }));
    expect((await asWeb.json()).signed_in).toBe(true);
    const out = await person.ask(`${base}/causeway/sign-out?return_to=/bye`, form);
    expect([out.status, out.headers.get('location')]).toEqual([303, '/bye']);
    expect((await ask(person, '/causeway/session', {}, base)).body.signed_in).toBe(false);
    await fastify.close();
  });

  test('a secret in the body does as well', async () => {
    const other = newSignIn({ clientAuth: 'body' });
    const { url, pending } = other.authorizeUrl();
    const back = await newPerson().decide(url, user, 'allow');
    const session = await other.exchange(back, pending);
    expect(session.user?.email).toBe(user.email);
    expect(inspect(session)).not.toContain(session.accessToken);
    expect(inspect(session)).not.toContain(session.refreshToken);
  });

  test('signing in again is another session', async () => {
    const person = newPerson();
    const ids = [];
    for (let turn = 0; turn < 2; turn++) {
      await walk(person);
      const cookie = `causeway_session=${person.cookies('127.0.0.1').get('causeway_session')}`;
      ids.push((await signIn.store.load({ headers: { cookie } }))?.id);
    }
    expect(new Set(ids).size).toBe(2);
  });

  test('signing out ends the tokens at the service', async () => {
    const person = newPerson();
    await walk(person);
    const { access_token } = (await ask(person, '/causeway/token')).body;
    const { status, body } = await ask(person, '/causeway/sign-out', { method: 'POST' });
    expect([status, body]).toEqual([200, { signed_in: false }]);
    const causeway = createCauseway({ baseUrl: sandbox.url, accessToken: access_token });
    await expect(causeway.pii.get()).rejects.toMatchObject({ code: 'unauthorized' });
    expect((await ask(person, '/causeway/token')).body.code).toBe('not_signed_in');
  });

  test('paths that are not its own go on to the app', async () => {
    expect(await (await fetch(`${app}/`)).text()).toBe('the app');
    const other = await fetch(`${app}/causeway/token`, { method: 'POST' });
    expect([other.status, other.headers.get('allow')]).toEqual([405, 'GET']);
  });
});

describe('failures on the way back', () => {
  const errorOf = (reply: Response) => reply.headers.get('location');

  test('a denied consent returns to the page with access_denied', async () => {
    const person = newPerson();
    const back = await walk(person, { decision: 'deny' });
    expect(errorOf(back)).toBe('/offers?x=1&causeway_error=access_denied');
    expect((await ask(person, '/causeway/session')).body.signed_in).toBe(false);
  });

  test('an answer to a sign-in that another browser began is refused, and nothing is exchanged', async () => {
    const attacker = newPerson();
    const begun = await attacker.ask(`${app}/causeway/sign-in`);
    const { search } = await attacker.decide(begun.headers.get('location') ?? '', user, 'allow');
    const victim = newPerson();
    await victim.ask(`${app}/causeway/sign-in`);
    expect(errorOf(await victim.ask(`${app}/callback${search}`))).toBe('/?causeway_error=state_mismatch');
    expect(grants).toEqual([]);
    expect((await ask(victim, '/causeway/session')).body.signed_in).toBe(false);
  });

  test('an answer of another server, one that took too long and one with a bad code are refused', async () => {
    const begin = async () => {
      const person = newPerson();
      const begun = await person.ask(`${app}/causeway/sign-in`);
      const state = new URL(begun.headers.get('location') ?? '').searchParams.get('state') ?? '';
      const answer = (more: Record<string, string>) =>
        person.ask(`${app}/callback?${new URLSearchParams({ code: 'c', state, iss: sandbox.url, ...more })}`);
      return answer;
    };
    expect(errorOf(await (await begin())({ iss: 'https://evil.test' }))).toContain('=issuer_mismatch');
    const late = await begin();
    skew = 11 * 60_000;
    expect(errorOf(await late({}))).toContain('=expired');
    skew = 0;
    expect(grants).toEqual([]);
    expect(errorOf(await (await begin())({}))).toContain('=refused');
    expect(errors.some((error) => isSignInError(error, 'refused'))).toBe(true);
    expect(errorOf(await (await begin())({ error: '<script>' }))).toBe('/?causeway_error=refused');
  });

  test('an answer that is delivered twice at once is exchanged once, and the session lives', async () => {
    const person = newPerson();
    const begun = await person.ask(`${app}/causeway/sign-in`);
    const { search } = await person.decide(begun.headers.get('location') ?? '', user, 'allow');
    const replies = await Promise.all([1, 2, 3].map(() => person.ask(`${app}/callback${search}`)));
    expect(replies.map(errorOf)).toEqual(['/', '/', '/']);
    expect(grants).toEqual(['authorization_code']);
    expect((await ask(person, '/causeway/token?refresh=1')).status).toBe(200);
    expect(errorOf(await person.ask(`${app}/callback${search}`))).toBe('/?causeway_error=state_mismatch');
  });

  test('two tabs can sign in side by side', async () => {
    const person = newPerson();
    const urls = [];
    for (const path of ['/one', '/two'])
      urls.push(
        (await person.ask(`${app}/causeway/sign-in?return_to=${path}`)).headers.get('location') ?? '',
      );
    for (const [index, path] of ['/one', '/two'].entries()) {
      const { search } = await person.decide(urls[index] ?? '', user, 'allow');
      expect(errorOf(await person.ask(`${app}/callback${search}`))).toBe(path);
    }
  });

  test('a browser never holds more than a few begun sign-ins', async () => {
    const person = newPerson();
    for (let tabs = 0; tabs < 9; tabs++) await person.ask(`${app}/causeway/sign-in`);
    const held = [...person.cookies('127.0.0.1').keys()].filter((name) => name.includes('pending'));
    expect(held.length).toBe(4);
  });
});

describe('renewal', () => {
  test('many requests at once renew once, and the old cookie goes on with what is new', async () => {
    const person = newPerson();
    await walk(person);
    const before = (await ask(person, '/causeway/token')).body.access_token;
    const cookie = [...person.cookies('127.0.0.1')].map(([name, value]) => `${name}=${value}`).join('; ');
    grants.length = 0;
    skew = 14.5 * 60_000;
    const asOld = (path = '/causeway/token') =>
      fetch(app + path, { headers: { ...PAGE, cookie } }).then((reply) => reply.json());
    const tokens = await Promise.all(Array.from({ length: 20 }, () => asOld()));
    expect(new Set(tokens.map(({ access_token }) => access_token)).size).toBe(1);
    expect(tokens[0].access_token).not.toBe(before);
    expect((await asOld()).access_token).toBe(tokens[0].access_token);
    expect(grants).toEqual(['refresh_token']);
  });

  test('a page that asks for a new token again and again gets one now and then', async () => {
    const person = newPerson();
    await walk(person);
    grants.length = 0;
    skew = 20_000;
    for (let turn = 0; turn < 5; turn++) await ask(person, '/causeway/token?refresh=1');
    expect(grants).toEqual(['refresh_token']);
  });

  test('two processes that renew at once both go on', async () => {
    const { url, pending } = signIn.authorizeUrl();
    const session = await signIn.exchange(await newPerson().decide(url, user, 'allow'), pending);
    skew = 14.5 * 60_000;
    const both = await Promise.all([newSignIn().fresh(session), newSignIn().fresh(session)]);
    for (const { accessToken } of both)
      await createCauseway({ baseUrl: sandbox.url, accessToken }).offers.list();
  });

  test('a session whose grant has ended is over, and its cookie goes', async () => {
    const person = newPerson();
    await walk(person);
    const loaded = await signIn.store.load({
      headers: { cookie: `causeway_session=${person.cookies('127.0.0.1').get('causeway_session')}` },
    });
    if (loaded === undefined) throw new Error('there is no session');
    await signIn.signOut(loaded);
    skew = 20_000;
    const { status, body } = await ask(person, '/causeway/token?refresh=1');
    expect([status, body.code]).toEqual([401, 'not_signed_in']);
    expect(person.cookies('127.0.0.1').has('causeway_session')).toBe(false);
  });

  test('while the service is away a token that still lives is given, and a dead one is 503', async () => {
    const person = newPerson();
    await walk(person);
    const away = createHandler(
      newSignIn({ fetch: async () => Promise.reject(new TypeError('fetch failed')) }),
    );
    const base = await listen(createServer(toNode(away)));
    skew = 14.5 * 60_000;
    expect((await ask(person, '/causeway/token', {}, base)).status).toBe(200);
    skew = 16 * 60_000;
    expect((await ask(person, '/causeway/token', {}, base)).body.code).toBe('upstream_unavailable');
    expect(person.cookies('127.0.0.1').has('causeway_session')).toBe(true);
  });
});

describe('clients', () => {
  test('one for the user of a request, which renews a refused token and tells the reply', async () => {
    const { url, pending } = signIn.authorizeUrl();
    const session = await signIn.exchange(await newPerson().decide(url, user, 'allow'), pending);
    const reply = new Headers();
    await signIn.store.save({ headers: {} }, reply, { ...session, accessToken: 'of-yesterday' });
    const cookie = reply.getSetCookie()[0]?.split(';')[0] ?? '';
    skew = 20_000;
    const found = await userClient(signIn, { headers: { cookie } }, { baseUrl: sandbox.url });
    expect((await found?.causeway.offers.list())?.data.length).toBeGreaterThan(0);
    expect(found?.headers.getSetCookie().length).toBe(1);
    expect(await userClient(signIn, new Request(app), { baseUrl: sandbox.url })).toBeUndefined();
  });

  test('one for the page, by its own server', async () => {
    const person = newPerson();
    await walk(person);
    let asked = 0;
    const accessToken = browserToken({
      url: `${app}/causeway/token`,
      fetch: (input, init) => {
        asked++;
        return person.ask(String(input), init);
      },
    });
    const causeway = createCauseway({ baseUrl: sandbox.url, accessToken });
    await Promise.all([causeway.offers.list(), causeway.participations.list(), causeway.offers.list()]);
    expect(asked).toBe(1);
    const nobody = createCauseway({
      ...{ baseUrl: sandbox.url, accessToken: browserToken({ url: `${app}/causeway/token` }) },
    });
    await expect(nobody.offers.list()).rejects.toMatchObject({ code: 'not_signed_in', status: 401 });
  });

  test('one for the partner, with one token for many calls', async () => {
    const { client_id, client_secret } = sandbox.overview.partner;
    let tokens = 0;
    const partner = partnerClient({
      ...{ baseUrl: sandbox.url, clientId: client_id, clientSecret: client_secret },
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
    const wrong = partnerClient({ baseUrl: sandbox.url, clientId: client_id, clientSecret: 'wrong' });
    await expect(wrong.offers.list()).rejects.toMatchObject({ name: 'CausewayError', status: 401 });
  });
});

test('neither secrets nor codes nor tokens are in errors or in what is shown of the objects', async () => {
  const { client_secret } = sandbox.overview.partner;
  const { url, pending } = signIn.authorizeUrl();
  const state = new URL(url).searchParams.get('state') ?? '';
  const callback = new URLSearchParams({ code: 'the-code-itself', state, iss: sandbox.url });
  const away = newSignIn({ baseUrl: 'http://127.0.0.1:1', issuer: sandbox.url });
  const failed = [
    await signIn.exchange(callback, pending).catch((error) => error),
    await away.exchange(callback, pending).catch((error) => error),
    await signIn.exchange(callback, undefined).catch((error) => error),
  ];
  expect(failed.map(({ code }) => code)).toEqual(['refused', 'unavailable', 'state_mismatch']);
  expect(failed.every((error) => error instanceof SignInError)).toBe(true);
  const shown = [...failed, signIn, handler]
    .flatMap((one) => [inspect(one, { depth: 9, showHidden: true }), JSON.stringify(one)])
    .join('\n');
  const basic = Buffer.from(`sandbox-partner:${client_secret}`).toString('base64');
  for (const secret of [client_secret, basic, SECRET, 'the-code-itself', pending.verifier, state])
    expect(shown).not.toContain(secret);
});
