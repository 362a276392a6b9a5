import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import { Auth } from '@auth/core';
import { betterAuth } from 'better-auth';
import { memoryAdapter } from 'better-auth/adapters/memory';
import { genericOAuth } from 'better-auth/plugins';
import { SCOPE } from './oauth-clients.mjs';

const require = createRequire(import.meta.url);

/** Like `CLIENTS`, but for frameworks that handle the requests of a web app themselves. */
export const FRAMEWORKS = {
  async 'Auth.js'({ issuer, clientId, clientSecret, authorize, origin }) {
    let token;
    const config = {
      trustHost: true,
      basePath: '/auth',
      secret: randomBytes(32).toString('hex'),
      providers: [
        {
          id: 'causeway',
          name: 'Causeway',
          type: 'oidc',
          issuer,
          clientId,
          clientSecret,
          authorization: { params: { scope: SCOPE } },
          checks: ['pkce', 'state'],
        },
      ],
      callbacks: {
        jwt: ({ token: jwt, account }) => {
          token ??= account?.access_token;
          return jwt;
        },
      },
      logger: { error: (error) => console.error(error) },
    };
    await signInThrough((request) => Auth(request, config), `${origin}/auth`, '/signin/causeway', authorize);
    return token;
  },

  async 'next-auth 4'({ issuer, clientId, clientSecret, authorize, origin }) {
    // Outside Next.js, frameworks use the core of the package, which the entry point does not export.
    const { AuthHandler } = require(require.resolve('next-auth').replace(/index\.js$/, 'core/index.js'));
    let token;
    const options = {
      secret: randomBytes(32).toString('hex'),
      providers: [
        {
          id: 'causeway',
          name: 'Causeway',
          type: 'oauth',
          wellKnown: `${issuer}/.well-known/openid-configuration`,
          clientId,
          clientSecret,
          idToken: true,
          authorization: { params: { scope: SCOPE } },
          checks: ['pkce', 'state'],
          profile: ({ sub, email }) => ({ id: sub, email }),
        },
      ],
      callbacks: {
        jwt: ({ token: jwt, account }) => {
          token ??= account?.access_token;
          return jwt;
        },
      },
    };
    const handle = async (request) => {
      const { pathname, searchParams } = new URL(request.url);
      const [action, providerId] = pathname.split('/').slice(2);
      const cookies = Object.fromEntries(
        (request.headers.get('cookie') ?? '').split('; ').map((pair) => pair.split(/=(.*)/s).slice(0, 2)),
      );
      const body =
        request.method === 'POST' ? Object.fromEntries(new URLSearchParams(await request.text())) : {};
      const query = Object.fromEntries(searchParams);
      const req = { origin, method: request.method, action, providerId, query, body, cookies, headers: {} };
      const reply = await AuthHandler({ req, options });
      const headers = new Headers((reply.headers ?? []).map(({ key, value }) => [key, value]));
      for (const { name, value } of reply.cookies ?? []) headers.append('set-cookie', `${name}=${value}`);
      if (reply.redirect) headers.set('location', reply.redirect);
      return new Response(JSON.stringify(reply.body ?? null), {
        status: reply.redirect ? 302 : 200,
        headers,
      });
    };
    process.env.NEXTAUTH_URL = `${origin}/auth`;
    await signInThrough(handle, `${origin}/auth`, '/signin/causeway', authorize);
    return token;
  },

  async 'better-auth'({ issuer, clientId, clientSecret, authorize, origin }) {
    const db = { user: [], session: [], account: [], verification: [] };
    const auth = betterAuth({
      baseURL: origin,
      secret: randomBytes(32).toString('hex'),
      database: memoryAdapter(db),
      logger: { disabled: true },
      plugins: [
        genericOAuth({
          config: [
            {
              providerId: 'causeway',
              discoveryUrl: `${issuer}/.well-known/openid-configuration`,
              clientId,
              clientSecret,
              scopes: SCOPE.split(' '),
              pkce: true,
              mapProfileToUser: ({ email }) => ({ name: email }),
            },
          ],
        }),
      ],
    });
    const start = await auth.handler(
      new Request(`${origin}/api/auth/sign-in/oauth2`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', origin },
        body: JSON.stringify({ providerId: 'causeway', callbackURL: `${origin}/done` }),
      }),
    );
    const { url } = await start.json();
    const cookie = start.headers
      .getSetCookie()
      .map((pair) => pair.split(';')[0])
      .join('; ');
    const done = await auth.handler(new Request(await authorize(url), { headers: { cookie } }));
    const account = db.account[0];
    if (account === undefined) throw new Error(`${done.status} ${done.headers.get('location')}`);
    return account.accessToken;
  },
};

/**
 * Drives a library that acts as a web server: gets its CSRF token, starts the sign-in and calls its callback.
 */
async function signInThrough(handle, base, path, authorize) {
  const jar = new Map();
  const send = async (url, init = {}) => {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await handle(new Request(url, { ...init, headers: { ...init.headers, cookie } }));
    for (const pair of response.headers.getSetCookie()) {
      const [name, value] = pair.split(';')[0].split(/=(.*)/s);
      jar.set(name, value);
    }
    return response;
  };
  const { csrfToken } = await (await send(`${base}/csrf`)).json();
  const start = await send(`${base}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ csrfToken, callbackUrl: base }).toString(),
  });
  const done = await send(await authorize(start.headers.get('location')));
  if (/error/.test(done.headers.get('location') ?? '')) throw new Error(done.headers.get('location'));
}
