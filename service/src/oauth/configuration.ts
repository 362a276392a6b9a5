import type { Account, Configuration, JWK } from 'oidc-provider';
import { SCOPES } from '../http/access.ts';
import { isId } from '../http/ids.ts';
import type { Kernel } from '../kernel.ts';
import { createAdapter } from './adapter.ts';
import { OWN_METADATA } from './client.ts';
import type { TokenGuard } from './guard.ts';
import { keepOfflineAccess } from './scopes.ts';

const DAY = 24 * 60 * 60;

/** Seconds. */
export const LIFETIMES = {
  AuthorizationCode: 60,
  AccessToken: 900,
  ClientCredentials: 900,
  RefreshToken: 30 * DAY,
  IdToken: 3600,
  Interaction: 3600,
  Session: 14 * DAY,
  // Longer than any chain of refreshes; housekeeping deletes a grant when its last token has expired.
  Grant: 3650 * DAY,
} as const;

/** Near the end of its life a refresh token is replaced, in percent of that life. */
const ROTATE_FROM = 70;

type Parts = Pick<Kernel, 'db' | 'baseUrl' | 'sealing'> & { guard: TokenGuard };

/** The library, told what the contract asks of it. Whatever the contract does not name is switched off. */
export function configure(ctx: Parts, keys: JWK[]): Configuration {
  const off = { enabled: false } as const;
  const secure = ctx.baseUrl.startsWith('https:');
  const cookie = { httpOnly: true, sameSite: 'lax', signed: true, secure, path: '/' } as const;
  return {
    adapter: createAdapter({ db: ctx.db, issuer: ctx.baseUrl, tell: ctx.guard.applyNotification }),
    jwks: { keys },
    findAccount: (_koa, id) => findAccount(ctx, id),
    claims: { openid: ['sub'], email: ['email', 'email_verified'] },
    conformIdTokenClaims: false,
    scopes: Object.keys(SCOPES),
    responseTypes: ['code'],
    clientAuthMethods: ['client_secret_basic', 'client_secret_post'],
    clientDefaults: {
      token_endpoint_auth_method: 'client_secret_basic',
      id_token_signed_response_alg: 'RS256',
    },
    extraClientMetadata: { properties: [...OWN_METADATA] },
    enabledJWA: { idTokenSigningAlgValues: ['RS256'], userinfoSigningAlgValues: ['RS256'] },
    pkce: { required: () => true },
    allowOmittingSingleRegisteredRedirectUri: false,
    clockTolerance: 0,
    ttl: LIFETIMES,
    // Tokens of a connected app end when the user disconnects it, not when a browser signs out.
    expiresWithSession: async () => false,
    issueRefreshToken: async (_koa, client) => client.grantTypeAllowed('refresh_token'),
    rotateRefreshToken: ({ oidc }) => (oidc.entities.RefreshToken?.ttlPercentagePassed() ?? 0) >= ROTATE_FROM,
    extraParams: { offline: keepOfflineAccess },
    // Our own reply headers decide (see `cors.ts`); the library must not refuse on top of it.
    clientBasedCORS: () => true,
    cookies: {
      keys: [ctx.sealing.tag('oauth cookies', 'keys').toString('base64url')],
      // The prefixes make browsers insist on TLS and, for the session, on this very host (RFC 6265bis §4.1.3).
      names: {
        session: `${secure ? '__Host-' : ''}causeway_oauth`,
        interaction: `${secure ? '__Secure-' : ''}causeway_interaction`,
        resume: `${secure ? '__Secure-' : ''}causeway_resume`,
      },
      long: cookie,
      short: { httpOnly: true, sameSite: 'lax', signed: true, secure },
    },
    interactions: { url: (_koa, interaction) => `/interaction/${interaction.uid}` },
    routes: {
      authorization: '/oauth/authorize',
      token: '/oauth/token',
      revocation: '/oauth/revoke',
      userinfo: '/oauth/userinfo',
      jwks: '/oauth/jwks',
    },
    discovery: { service_documentation: `${ctx.baseUrl}/docs` },
    features: {
      clientCredentials: { enabled: true },
      revocation: {
        enabled: true,
        allowedPolicy: async (_koa, client, token) => token.clientId === client.clientId,
      },
      userinfo: { enabled: true },
      devInteractions: off,
      dPoP: off,
      pushedAuthorizationRequests: off,
      resourceIndicators: off,
      rpInitiatedLogout: off,
    },
  };
}

export async function findAccount({ db }: Pick<Parts, 'db'>, id: string): Promise<Account | undefined> {
  if (!isId(id)) return undefined;
  const user = await db.selectFrom('users').select(['id', 'email']).where('id', '=', id).executeTakeFirst();
  if (user === undefined) return undefined;
  return {
    accountId: user.id,
    claims: async () => ({ sub: user.id, email: user.email, email_verified: true }),
  };
}
