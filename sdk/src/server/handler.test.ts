import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import Fastify from 'fastify';
import { describe, expect, test } from 'vitest';
import { createHandler } from './handler.ts';
import { toFastify, toNode } from './node.ts';
import { localPath } from './same-origin.ts';
import { createSeal } from './seal.ts';
import { cookieSessions, type Session } from './session.ts';
import { createSignIn } from './sign-in.ts';

const ORIGIN = 'https://app.example';
const SECRET = 'x'.repeat(32);
const options = {
  ...{ baseUrl: 'https://causeway.example', clientId: 'c', clientSecret: 's', cookieSecret: SECRET },
  redirectUri: `${ORIGIN}/callback`,
};
const signIn = createSignIn(options);
const handler = createHandler(signIn);
const session: Session = {
  ...{ id: 'i'.repeat(43), accessToken: 'a', refreshToken: 'r', scope: 'openid', user: undefined },
  ...{ expiresAt: Date.now() + 900_000, refreshedAt: Date.now() },
};

async function cookieOf(store = signIn.store, saved = session): Promise<string> {
  const reply = new Headers();
  await store.save({ headers: {} }, reply, saved);
  return reply.getSetCookie()[0]?.split(';')[0] ?? '';
}
const request = async (path: string, headers: Record<string, string>, method = 'GET') =>
  handler(new Request(ORIGIN + path, { method, headers: { cookie: await cookieOf(), ...headers } }));

describe('tokens and sign-out are available to', () => {
  test.each([
    ['a page of the app', { 'sec-fetch-site': 'same-origin' }, 200],
    ['another site', { 'sec-fetch-site': 'cross-site' }, 403],
    ['another host of the same site', { 'sec-fetch-site': 'same-site' }, 403],
    ['a typed URL', { 'sec-fetch-site': 'none' }, 403],
    ["another site with the SDK's header", { 'sec-fetch-site': 'cross-site', 'causeway-request': '1' }, 403],
    ['an older browser, another origin', { origin: 'https://evil.test' }, 403],
    ['an older browser, opaque origin', { origin: 'null' }, 403],
    ['an older browser, the app', { origin: ORIGIN }, 200],
    ['an older browser, the SDK on a page of the app', { 'causeway-request': '1' }, 200],
    ['an unknown sender', {}, 403],
  ])('%s', async (_who, headers, status) => {
    const reply = await request('/causeway/token', headers);
    expect(reply.status).toBe(status);
    expect((await reply.json()).access_token).toBe(status === 200 ? 'a' : undefined);
    expect(reply.headers.get('access-control-allow-origin')).toBeNull();
    expect((await request('/causeway/session', headers)).status).toBe(status);
    if (status === 403) {
      const signOut = await request('/causeway/sign-out', headers, 'POST');
      expect([signOut.status, signOut.headers.getSetCookie()]).toEqual([403, []]);
    }
  });

  test('POST requests only: a link cannot sign out', async () => {
    expect((await request('/causeway/sign-out', { 'sec-fetch-site': 'same-origin' })).status).toBe(405);
  });
});

test('answers behind a host that adds a trailing slash to every path', async () => {
  expect((await request('/causeway/session/', { origin: ORIGIN })).status).toBe(200);
  expect((await request('/causeway/sign-out/', { origin: ORIGIN }, 'POST')).status).toBe(200);
  const slashed = createHandler(createSignIn({ ...options, redirectUri: `${ORIGIN}/callback/` }));
  for (const path of ['/callback', '/callback/'])
    expect((await slashed(new Request(ORIGIN + path))).status).not.toBe(404);
  expect((await request('/causeway/session//', { origin: ORIGIN })).status).toBe(404);
});

test('only a navigation can start a sign-in, not an image, a frame or a script', async () => {
  for (const destination of ['image', 'iframe', 'empty', 'script'])
    expect((await request('/causeway/sign-in', { 'sec-fetch-dest': destination })).status).toBe(403);
  expect((await request('/causeway/sign-in', { 'sec-fetch-dest': 'document' })).status).toBe(303);
});

describe('the return path', () => {
  test.each([
    '//evil.test',
    '/\\evil.test',
    '\\\\evil.test',
    'https://evil.test',
    'javascript:alert(1)',
    '/\t/evil.test',
    '/\n/evil.test',
    '/.//evil.test',
    '/a/..//evil.test',
    '/%5cevil.test/..//evil.test',
    'evil.test',
    '',
    `/${'x'.repeat(2000)}`,
  ])('cannot leave the app with %j', (path) => {
    expect(localPath(path, ORIGIN, '/home')).toBe('/home');
  });

  test('is always a path of the app', () => {
    const part = fc.constantFrom(
      '/',
      '\\',
      '.',
      '..',
      '@',
      'evil.test',
      'https:',
      '%2f',
      '%5c',
      '?',
      '#',
      '\t',
      ':',
      'a',
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
        const path = localPath(parts.join(''), ORIGIN, '/home');
        expect(path).toMatch(/^\/(?![/\\])/);
        expect(new URL(path, ORIGIN).origin).toBe(ORIGIN);
      }),
    );
  });

  test('keeps query and fragment', () => {
    expect(localPath('/offers/x?tab=terms#faq', ORIGIN, '/')).toBe('/offers/x?tab=terms#faq');
  });
});

test('a new sign-in removes the error of an earlier attempt from the return path', async () => {
  const reply = await request('/causeway/sign-in?return_to=/a%3Fx%3D1%26causeway_error%3Dexpired', {});
  const [cookie = ''] = reply.headers.getSetCookie();
  const [name = '', value = ''] = (cookie.split(';')[0] ?? '').split(/=(.*)/s);
  expect(signIn.internals.open(name, value, 0)).toMatchObject({ returnTo: '/a?x=1' });
});

test('toNode works below an Express mount path and after a body parser', async () => {
  const seen: unknown[] = [];
  const express = toNode(handler);
  const server = createServer((incoming, response) => {
    Object.assign(incoming, { originalUrl: incoming.url, url: incoming.url?.replace('/causeway', '') });
    incoming.resume().on('end', () => express(incoming, response, () => seen.push(incoming.url)));
    if (incoming.url === '/other') response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const signOut = await fetch(`${base}/causeway/sign-out`, {
    method: 'POST',
    body: 'x=1',
    headers: { origin: ORIGIN },
  });
  expect([signOut.status, await signOut.json()]).toEqual([200, { signed_in: false }]);
  const slashed = await fetch(`${base}/causeway/session/?x=1`, { headers: { origin: ORIGIN } });
  expect([slashed.status, await slashed.json()]).toEqual([200, { signed_in: false }]);
  await fetch(`${base}/other`);
  await expect.poll(() => seen).toEqual(['/other']);
  server.closeAllConnections();
  server.close();
});

test.each([false, true])(
  'toFastify answers with and without a trailing slash; ignoreTrailingSlash: %s',
  async (ignoreTrailingSlash) => {
    for (const callback of ['/', '/callback', '/callback/']) {
      const app = Fastify({ routerOptions: { ignoreTrailingSlash } });
      const redirectUri = ORIGIN + callback;
      await app.register(toFastify(createHandler(createSignIn({ ...options, redirectUri }))));
      const statusOf = async (url: string, method: 'GET' | 'POST' = 'GET') =>
        (await app.inject({ method, url, headers: { origin: ORIGIN } })).statusCode;
      for (const slash of ['', '/']) {
        expect(await statusOf(`/causeway/session${slash}`)).toBe(200);
        expect(await statusOf(`/causeway/sign-out${slash}?x=1`, 'POST')).toBe(200);
        expect(await statusOf(callback === '/' ? '/' : `/callback${slash}`)).not.toBe(404);
      }
      expect(await statusOf('/causeway/other')).toBe(404);
      await app.close();
    }
  },
);

test('toNode adapts any web handler, passes bodies on up to a limit and reports errors', async () => {
  const errors: unknown[] = [];
  const echo = async (incoming: Request) => {
    if (new URL(incoming.url).pathname === '/fail') throw new Error('failed');
    return new Response(await incoming.text(), { headers: { 'x-method': incoming.method } });
  };
  const listener = toNode(echo, { maxBodyBytes: 4, onError: (error) => void errors.push(error) });
  const server = createServer((incoming, response) => listener(incoming, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const post = (body: string) => fetch(`${base}/any`, { method: 'POST', body });
  expect(await (await post('1234')).text()).toBe('1234');
  expect((await post('12345')).status).toBe(413);
  const head = await fetch(`${base}/any`, { method: 'HEAD' });
  expect([head.status, head.headers.get('x-method')]).toEqual([200, 'GET']);
  expect((await fetch(`${base}/fail`)).status).toBe(500);
  expect(errors).toEqual([new Error('failed')]);
  server.closeAllConnections();
  server.close();
});

test('createSignIn names a setting that is missing or invalid', () => {
  expect(() => createSignIn({ ...options, redirectUri: '/callback' })).toThrow(
    'redirectUri must be an absolute URL such as https://app.example/callback, not "/callback"',
  );
  expect(() => createSignIn({ ...options, baseUrl: undefined as unknown as string })).toThrow(
    'baseUrl is missing',
  );
  expect(() => createSignIn({ ...options, baseUrl: 'https://causeway.example/v1/' })).toThrow(
    'must not end in /v1',
  );
  const issuer = 'https://causeway.example';
  expect(() => createSignIn({ ...options, issuer, baseUrl: undefined as unknown as string })).toThrow(
    'baseUrl is missing',
  );
  expect(() => createSignIn({ ...options, issuer, baseUrl: `${issuer}/v1` })).toThrow('must not end in /v1');
  expect(() => createSignIn({ ...options, issuer: 'causeway.example' })).toThrow(
    'issuer "causeway.example" is not an absolute URL',
  );
  expect(() => createSignIn({ ...options, cookieSecret: 'short' })).toThrow('at least 32 random characters');
});

describe('cookies', () => {
  test('are protected from scripts, other sites, plain HTTP and other hosts', async () => {
    const reply = await request('/causeway/sign-in', {});
    const [cookie = ''] = reply.headers.getSetCookie();
    expect(cookie).toMatch(
      /^__Host-causeway_pending_[\w-]{8}=v1\.[\w-]+; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax; Secure$/,
    );
  });

  test('open with every secret and are sealed with the first', async () => {
    const store = (secret: string | string[]) => cookieSessions({ secret, secure: true });
    const [old, fresh] = ['o'.repeat(32), 'n'.repeat(32)];
    const cookie = await cookieOf(store(old));
    const load = (secret: string | string[], text: string) =>
      store(secret).load({ headers: { cookie: text } });
    expect(await load([fresh, old], cookie)).toMatchObject({ id: session.id });
    expect(await load(fresh, cookie)).toBeUndefined();
    expect(await load(fresh, await cookieOf(store([fresh, old])))).toMatchObject({ id: session.id });
    expect(() => store('short')).toThrow(TypeError);
    expect(() => store([])).toThrow(TypeError);
  });

  test('do not open if they were changed, moved or have expired', () => {
    const { seal, open } = createSeal(SECRET);
    const sealed = seal('session', { a: 1 }, 1000);
    expect(open('session', sealed, 999)).toEqual({ a: 1 });
    expect(open('session', sealed, 1000)).toBeUndefined();
    expect(open('pending', sealed, 999)).toBeUndefined();
    const bytes = Buffer.from(sealed.slice(3), 'base64url');
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
        const other = Buffer.from(bytes);
        other[at] = (other[at] ?? 0) ^ change;
        expect(open('session', `v1.${other.toString('base64url')}`, 999)).toBeUndefined();
      }),
    );
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(open('session', text, 0)).toBeUndefined();
        expect(open('session', `v1.${text}`, 0)).toBeUndefined();
      }),
    );
    expect(new Set(Array.from({ length: 100 }, () => seal('session', 1, 1))).size).toBe(100);
  });

  test('that a browser would drop are rejected; the longest email address fits', async () => {
    const scope = 'participations:write '.repeat(14);
    const user = { id: crypto.randomUUID(), email: `${'é'.repeat(127)}` };
    const large = { ...session, accessToken: 'a'.repeat(43), refreshToken: 'r'.repeat(43), scope, user };
    const store = cookieSessions({ secret: SECRET, secure: true });
    expect((await cookieOf(store, large)).length).toBeLessThan(2000);
    const tooLarge = { ...session, accessToken: 'a'.repeat(4000) };
    await expect(cookieOf(store, tooLarge)).rejects.toMatchObject({ code: 'session_too_large' });
  });
});

test('the authorization request has a PKCE challenge (S256) and a state, both new each time', () => {
  const first = new URL(signIn.authorizeUrl({ prompt: 'login', loginHint: 'a@b.test' }).url).searchParams;
  const second = new URL(signIn.authorizeUrl().url).searchParams;
  expect(Object.fromEntries(first)).toMatchObject({
    ...{ response_type: 'code', client_id: 'c', redirect_uri: options.redirectUri, prompt: 'login' },
    ...{ code_challenge_method: 'S256', login_hint: 'a@b.test' },
  });
  for (const name of ['state', 'code_challenge']) {
    expect(first.get(name)?.length).toBe(43);
    expect(first.get(name)).not.toBe(second.get(name));
  }
});
