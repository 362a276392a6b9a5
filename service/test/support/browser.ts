import { createHash, randomBytes } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type { Context } from '../../src/platform/context/context.ts';
import { REDIRECT, USER } from './tokens.ts';

/** Replaces the hosted pages: signs the user in, and gives or denies consent. */
export function decideAs(decision: () => { user: string } | 'deny') {
  return (ctx: Context) => (app: FastifyInstance) => {
    app.get('/interaction/:uid', { config: { access: { who: 'public' } } }, async (request, reply) => {
      const interaction = await ctx.oauth.interaction(request);
      const choice = decision();
      const result =
        choice === 'deny'
          ? { error: 'access_denied', error_description: 'the user denied access' }
          : interaction.prompt.name === 'login'
            ? { login: { accountId: choice.user } }
            : await ctx.oauth.allowConsent(interaction);
      return reply.redirect(await ctx.oauth.finishInteraction(request, result), 303);
    });
  };
}

export const allow = decideAs(() => ({ user: USER }));

export type Pkce = { verifier: string; challenge: string };

export function newPkce(): Pkce {
  const verifier = randomBytes(32).toString('base64url');
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') };
}

/** Builds a valid authorization request. Set a parameter to undefined to omit it. */
export function authorizeUrl(
  clientId: string,
  { challenge }: Pkce,
  changes: Record<string, string | undefined> = {},
) {
  const params = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: REDIRECT,
    state: 'test-state',
    code_challenge: challenge,
    code_challenge_method: 'S256',
    ...changes,
  };
  const present = Object.entries(params).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return `/oauth/authorize?${new URLSearchParams(present)}`;
}

/**
 * A browser that keeps cookies, follows redirects within the service, and stops at the first redirect to
 * another site.
 */
export function newBrowser(app: FastifyInstance) {
  const jar = new Map<string, { value: string; path: string }>();
  const open = async (url: string) => {
    let next = url;
    for (let hops = 0; hops < 10; hops++) {
      const path = next.replace(/^http:\/\/(causeway\.test|127\.0\.0\.1:\d+)/, '');
      if (!path.startsWith('/')) return { callback: new URL(next), reply: null };
      const cookie = [...jar]
        .filter(([, { path: scope }]) => path.startsWith(scope))
        .map(([name, { value }]) => `${name.split('@')[0]}=${value}`)
        .join('; ');
      const reply = await app.inject({
        url: path,
        headers: { accept: 'text/html', ...(cookie && { cookie }) },
      });
      for (const { name, value, path: scope = '/' } of reply.cookies) {
        if (value === '') jar.delete(`${name}@${scope}`);
        else jar.set(`${name}@${scope}`, { value, path: scope });
      }
      if (reply.headers.location === undefined) return { callback: null, reply };
      next = String(reply.headers.location);
    }
    throw new Error('too many redirects');
  };
  return { open, jar };
}

/** Completes a sign-in and returns its authorization code. */
export async function obtainCode(app: FastifyInstance, url: string): Promise<string> {
  const { callback, reply } = await newBrowser(app).open(url);
  const code = callback?.searchParams.get('code');
  if (!code) throw new Error(`sign-in returned no code: ${callback?.href ?? reply?.body}`);
  return code;
}

export type TokenRequest = Record<string, string | undefined>;

export function postToken(
  app: FastifyInstance,
  { clientId, secret }: { clientId: string; secret: string },
  params: TokenRequest,
) {
  const all = { client_id: clientId, client_secret: secret, redirect_uri: REDIRECT, ...params };
  const present = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return app.inject({
    method: 'POST',
    url: '/oauth/token',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams(present).toString(),
  });
}
