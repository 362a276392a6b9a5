import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createHandler } from './handler.ts';
import { toNode } from './node.ts';
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
  ...{ id: 'i', accessToken: 'a', refreshToken: 'r', scope: 'openid', user: undefined },
  ...{ expiresAt: Date.now() + 900_000, refreshedAt: Date.now() },
};

async function cookieOf(store = signIn.store, kept = session): Promise<string> {
  const reply = new Headers();
  await store.save({ headers: {} }, reply, kept);
  return reply.getSetCookie()[0]?.split(';')[0] ?? '';
}
const ask = async (path: string, headers: Record<string, string>, method = 'GET') =>
  handler(new Request(ORIGIN + path, { method, headers: { cookie: await cookieOf(), ...headers } }));

describe('who may ask for tokens and sign out', () => {
  test.each([
    ['a page of the app', { 'sec-fetch-site': 'same-origin' }, 200],
    ['another site', { 'sec-fetch-site': 'cross-site' }, 403],
    ['another host of the same site', { 'sec-fetch-site': 'same-site' }, 403],
    ['a typed address', { 'sec-fetch-site': 'none' }, 403],
    ['another site with our header', { 'sec-fetch-site': 'cross-site', 'causeway-request': '1' }, 403],
    ['an older browser, another origin', { origin: 'https://evil.test' }, 403],
    ['an older browser, no origin of its own', { origin: 'null' }, 403],
    ['an older browser, the app', { origin: ORIGIN }, 200],
    ['an older browser, the SDK on a page of the app', { 'causeway-request': '1' }, 200],
    ['nobody knows who', {}, 403],
  ])('%s', async (_who, headers, status) => {
    const given = await ask('/causeway/token', headers);
    expect(given.status).toBe(status);
    expect((await given.json()).access_token).toBe(status === 200 ? 'a' : undefined);
    expect(given.headers.get('access-control-allow-origin')).toBeNull();
    expect((await ask('/causeway/session', headers)).status).toBe(status);
    if (status === 403) {
      const out = await ask('/causeway/sign-out', headers, 'POST');
      expect([out.status, out.headers.getSetCookie()]).toEqual([403, []]);
    }
  });

  test('nobody signs out by a link', async () => {
    expect((await ask('/causeway/sign-out', { 'sec-fetch-site': 'same-origin' })).status).toBe(405);
  });

  test('a sign-in cannot be begun by an image or in a frame', async () => {
    for (const destination of ['image', 'iframe', 'empty', 'script'])
      expect((await ask('/causeway/sign-in', { 'sec-fetch-dest': destination })).status).toBe(403);
    expect((await ask('/causeway/sign-in', { 'sec-fetch-dest': 'document' })).status).toBe(303);
  });
});

describe('the way back', () => {
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
  ])('%j does not leave the app', (path) => {
    expect(localPath(path, ORIGIN, '/home')).toBe('/home');
  });

  test('is a path of the app whatever is asked for', () => {
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

test('an error of an earlier attempt does not come back', async () => {
  const reply = await ask('/causeway/sign-in?return_to=/a%3Fx%3D1%26causeway_error%3Dexpired', {});
  const [cookie = ''] = reply.headers.getSetCookie();
  const [name = '', value = ''] = (cookie.split(';')[0] ?? '').split(/=(.*)/s);
  expect(signIn.internals.open(name, value, 0)).toMatchObject({ returnTo: '/a?x=1' });
});

test('Express may mount it below a path, and has parsed a body already', async () => {
  const seen: unknown[] = [];
  const express = toNode(handler);
  const server = createServer((request, response) => {
    Object.assign(request, { originalUrl: request.url, url: request.url?.replace('/causeway', '') });
    request.resume().on('end', () => express(request, response, () => seen.push(request.url)));
    if (request.url === '/other') response.end();
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const out = await fetch(`${base}/causeway/sign-out`, {
    method: 'POST',
    body: 'x=1',
    headers: { origin: ORIGIN },
  });
  expect([out.status, await out.json()]).toEqual([200, { signed_in: false }]);
  await fetch(`${base}/other`);
  await expect.poll(() => seen).toEqual(['/other']);
  server.closeAllConnections();
  server.close();
});

describe('cookies', () => {
  test('are out of reach of scripts, other sites, plain http and other hosts', async () => {
    const reply = await ask('/causeway/sign-in', {});
    const [cookie = ''] = reply.headers.getSetCookie();
    expect(cookie).toMatch(
      /^__Host-causeway_pending_[\w-]{8}=v1\.[\w-]+; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax; Secure$/,
    );
  });

  test('open with every secret of the list and are sealed with the first', async () => {
    const store = (secret: string | string[]) => cookieSessions({ secret, secure: true });
    const [old, fresh] = ['o'.repeat(32), 'n'.repeat(32)];
    const cookie = await cookieOf(store(old));
    const load = (secret: string | string[], text: string) =>
      store(secret).load({ headers: { cookie: text } });
    expect(await load([fresh, old], cookie)).toMatchObject({ id: 'i' });
    expect(await load(fresh, cookie)).toBeUndefined();
    expect(await load(fresh, await cookieOf(store([fresh, old])))).toMatchObject({ id: 'i' });
    expect(() => store('short')).toThrow(TypeError);
    expect(() => store([])).toThrow(TypeError);
  });

  test('that were changed, moved or outlived are nothing', () => {
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

  test('that a browser would drop are refused aloud; the largest address of a user fits', async () => {
    const scope = 'participations:write '.repeat(14);
    const user = { id: crypto.randomUUID(), email: `${'é'.repeat(127)}` };
    const large = { ...session, accessToken: 'a'.repeat(43), refreshToken: 'r'.repeat(43), scope, user };
    expect((await cookieOf(signIn.store, large)).length).toBeLessThan(2000);
    const tooLarge = { ...session, accessToken: 'a'.repeat(4000) };
    await expect(cookieOf(signIn.store, tooLarge)).rejects.toMatchObject({ code: 'session_too_large' });
  });
});

test('the authorization request has PKCE by S256, a state, and both are new each time', () => {
  const one = new URL(signIn.authorizeUrl({ prompt: 'login', loginHint: 'a@b.test' }).url).searchParams;
  const other = new URL(signIn.authorizeUrl().url).searchParams;
  expect(Object.fromEntries(one)).toMatchObject({
    ...{ response_type: 'code', client_id: 'c', redirect_uri: options.redirectUri, prompt: 'login' },
    ...{ code_challenge_method: 'S256', login_hint: 'a@b.test' },
  });
  for (const name of ['state', 'code_challenge']) {
    expect(one.get(name)?.length).toBe(43);
    expect(one.get(name)).not.toBe(other.get(name));
  }
});
