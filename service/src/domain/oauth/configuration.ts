import type { Account, Configuration, JWK } from 'oidc-provider';
import { SCOPES } from '../../kernel/access.ts';
import { isId } from '../../kernel/ids.ts';
import type { Kernel } from '../../platform/context/kernel.ts';
import type { OAuthHooks, TokenGuard } from '../../platform/context/ports.ts';
import type { Db } from '../../platform/db/pool.ts';
import { findUser } from '../users/store.ts';
import { ACR_VALUES, interactionPolicy } from './acr.ts';
import { createAdapter } from './adapter.ts';
import { EXTRA_METADATA } from './client.ts';
import { loadConsent } from './consent.ts';
import { shouldRotate } from './refresh-rotation.ts';
import type { RequestDatabase } from './request-database.ts';
import { checkScopes } from './scopes.ts';

const DAY_SECONDS = 24 * 60 * 60;

const TTL_SECONDS = {
  AuthorizationCode: 60,
  AccessToken: 900,
  ClientCredentials: 900,
  RefreshToken: 30 * DAY_SECONDS,
  IdToken: 3600,
  Interaction: 3600,
  Session: 14 * DAY_SECONDS,
} as const;

type Dependencies = Pick<Kernel, 'baseUrl' | 'sealing' | 'config'> &
  Omit<RequestDatabase, 'within'> & { guard: TokenGuard };

/** Configures oidc-provider to match the API contract. Disables everything that is not part of the contract. */
export function configure(ctx: Dependencies, keys: JWK[], hooks: OAuthHooks): Configuration {
  const disabled = { enabled: false } as const;
  const secure = ctx.baseUrl.startsWith('https:');
  const cookie = { httpOnly: true, sameSite: 'lax', signed: true, secure } as const;
  return {
    adapter: createAdapter({
      ...{ laneDb: ctx.laneDb, requestDb: ctx.requestDb, issuer: ctx.baseUrl },
      ...{ noteClientRead: ctx.noteClientRead, clientReadAt: ctx.clientReadAt },
      notify: ctx.guard.applyNotification,
    }),
    jwks: { keys },
    findAccount: (_koa, id) => findAccount(ctx.laneDb(), id),
    acrValues: ACR_VALUES,
    claims: { openid: ['sub', 'acr', 'amr'], email: ['email', 'email_verified'] },
    conformIdTokenClaims: false,
    scopes: Object.keys(SCOPES),
    responseTypes: ['code'],
    clientAuthMethods: ['client_secret_basic', 'client_secret_post'],
    clientDefaults: {
      token_endpoint_auth_method: 'client_secret_basic',
      id_token_signed_response_alg: 'RS256',
    },
    extraClientMetadata: { properties: [...EXTRA_METADATA] },
    enabledJWA: { idTokenSigningAlgValues: ['RS256'], userinfoSigningAlgValues: ['RS256'] },
    pkce: { required: () => true },
    allowOmittingSingleRegisteredRedirectUri: false,
    clockTolerance: 0,
    // A grant ends after its absolute lifetime, no matter how often its tokens are refreshed.
    ttl: { ...TTL_SECONDS, Grant: ctx.config.grantDays * DAY_SECONDS },
    // A connected app keeps its tokens until the user disconnects it, not until a browser signs out.
    expiresWithSession: async () => false,
    loadExistingGrant: (koa) => loadConsent(ctx, koa),
    issueRefreshToken: async (_koa, client) => client.grantTypeAllowed('refresh_token'),
    rotateRefreshToken: shouldRotate,
    // The middleware sets `requested_at` and overwrites any value from the client.
    extraParams: { offline: checkScopes, requested_at: null },
    // Accepts every origin, because `setCors` in the middleware handles CORS.
    clientBasedCORS: () => true,
    cookies: {
      keys: ctx.sealing.tags('oauth cookies', 'keys').map((key) => key.toString('base64url')),
      // `__Secure-` makes browsers require TLS. `__Host-` also binds the cookie to this exact host (RFC 6265bis
      // §4.1.3).
      names: {
        session: `${secure ? '__Host-' : ''}causeway_oauth`,
        interaction: `${secure ? '__Secure-' : ''}causeway_interaction`,
        resume: `${secure ? '__Secure-' : ''}causeway_resume`,
      },
      long: { ...cookie, path: '/' },
      short: cookie,
    },
    interactions: {
      policy: interactionPolicy(hooks),
      url: (_koa, interaction) => `/interaction/${interaction.uid}`,
    },
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
      devInteractions: disabled,
      dPoP: disabled,
      pushedAuthorizationRequests: disabled,
      resourceIndicators: disabled,
      rpInitiatedLogout: disabled,
    },
  };
}

/** Every account has a confirmed email address, so `email_verified` is true. */
export async function findAccount(db: Db, id: string): Promise<Account | undefined> {
  if (!isId(id)) return undefined;
  const user = await findUser(db, id);
  if (user === undefined) return undefined;
  return {
    accountId: user.id,
    claims: async () => ({ sub: user.id, email: user.email, email_verified: true }),
  };
}
