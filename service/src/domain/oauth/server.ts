import type { EventEmitter } from 'node:events';
import type Provider from 'oidc-provider';
import type { ErrorOut, KoaContextWithOIDC } from 'oidc-provider';
import { CustomOIDCProviderError } from 'oidc-provider/lib/helpers/errors.js';
import { Provider as OidcProvider } from 'oidc-provider/lib/provider.js';
import { matchesSecret } from '../../kernel/secret-hash.ts';
import type { Kernel } from '../../platform/context/kernel.ts';
import type { IdTokenHint, OAuth, OAuthHooks, TokenGuard } from '../../platform/context/ports.ts';
import { pageHeaders } from '../../platform/pages/headers.ts';
import { renderPage } from '../../platform/pages/layout.ts';
import { signInFailedPage } from '../../platform/pages/message-page.ts';
import { type ExtraMetadata, findClient, isLocalhost } from './client.ts';
import { configure, findAccount } from './configuration.ts';
import { grantConsent } from './consent.ts';
import { listConnectedApps } from './grant-store.ts';
import { loadSigningKeys } from './keys.ts';
import { adaptReplies } from './middleware.ts';
import { oidcRequest } from './oidc-request.ts';
import { createRequestDatabase, type RequestDatabase } from './request-database.ts';
import { disconnectApps } from './revocation.ts';
import { partnerTokenGrant } from './scopes.ts';

type Dependencies = Pick<
  Kernel,
  | 'db'
  | 'laneOf'
  | 'baseUrl'
  | 'sealing'
  | 'random'
  | 'log'
  | 'limiter'
  | 'config'
  | 'listener'
  | 'securityHeaders'
> & { guard: TokenGuard };

export async function createOAuth(kernel: Dependencies): Promise<OAuth> {
  const { within, ...requestDatabase } = createRequestDatabase(kernel);
  const ctx = { ...kernel, ...requestDatabase };
  const hooks: OAuthHooks = { signIn: null, canStepUp: null };
  let current = await buildProvider(ctx, hooks);
  let reloading = Promise.resolve();
  const reload = () => {
    reloading = reloading
      .then(async () => {
        current = await buildProvider(ctx, hooks);
      })
      .catch((err: unknown) => ctx.log.error({ err }, 'failed to load the signing keys'));
  };
  await ctx.listener.on('oauth', (message) => message.startsWith('key ') && reload());
  ctx.listener.onRestored(reload);
  // A stand-in for the response. For interactions, oidc-provider only reads the request's cookies and writes nothing to
  // the response.
  const noResponse = { setHeader: () => undefined, getHeader: () => undefined } as unknown as Parameters<
    Provider['interactionDetails']
  >[1];
  return {
    provider: () => current,
    hooks,
    within,
    interaction: (request) => current.interactionDetails(oidcRequest(request, ctx.baseUrl), noResponse),
    allowConsent: (interaction) => grantConsent(current, interaction),
    finishInteraction: (request, result) =>
      current.interactionResult(oidcRequest(request, ctx.baseUrl), noResponse, result),
    accountClaims: async (userId) => {
      const account = await findAccount(ctx.db, userId);
      if (account === undefined) throw new Error(`user ${userId} not found`);
      return account.claims('id_token', 'openid email', {}, []);
    },
    findClient: (clientId) => findClient(ctx.db, clientId),
    verifyIdTokenHint: (idToken) => verifyIdTokenHint(current, idToken),
    listGrants: (userId) => listConnectedApps(ctx.db, userId),
    revokeGrant: (userId, clientId) =>
      disconnectApps({ requestDb: ctx.requestDb, notify: ctx.guard.applyNotification }, userId, clientId),
  };
}

async function buildProvider(
  ctx: Dependencies & Omit<RequestDatabase, 'within'>,
  hooks: OAuthHooks,
): Promise<Provider> {
  const provider = new OidcProvider(ctx.baseUrl, {
    ...configure(ctx, await loadSigningKeys(ctx), hooks),
    renderError,
  });
  // Trusting forwarded headers is safe here, because `oidcRequest` replaces them with values that we trust.
  provider.proxy = true;
  provider.use(adaptReplies(ctx, provider, hooks));
  provider.registerGrantType('client_credentials', partnerTokenGrant(provider), ['scope']);
  authenticateByHash(ctx, provider);
  allowLocalhost(provider);
  provider.on('server_error', (koa, err) => {
    koa.state.failure = err;
    ctx.log.error({ err }, 'authorization server failed');
  });
  (provider as EventEmitter).on('error', (err: unknown) =>
    ctx.log.error({ err }, 'authorization server failed'),
  );
  return provider;
}

/** Without `LOCALHOST_PATTERN`, redirects must match a registered URI exactly. */
function allowLocalhost({ Client }: Provider): void {
  const isRegistered = Client.prototype.redirectUriAllowed;
  Client.prototype.redirectUriAllowed = function (uri: string): boolean {
    const { any_localhost } = this as unknown as ExtraMetadata;
    return isRegistered.call(this, uri) || (any_localhost && isLocalhost(uri));
  };
}

async function renderError(koa: KoaContextWithOIDC, out: ErrorOut): Promise<void> {
  if (koa.accepts('json', 'html') !== 'html') {
    koa.body = out;
    return;
  }
  koa.set(pageHeaders());
  koa.type = 'html';
  koa.body = renderPage(signInFailedPage(out.error_description ?? out.error));
}

/**
 * Makes oidc-provider compare client secrets by hash. Also makes oidc-provider count token requests against the
 * client's rate limit, but only after the client has authenticated, so that nobody else can use up the limit.
 */
function authenticateByHash(
  { limiter, config }: Pick<Kernel, 'limiter' | 'config'>,
  provider: Provider,
): void {
  provider.Client.prototype.compareClientSecret = async function (secret: string): Promise<boolean> {
    const { secret_hashes } = this as unknown as ExtraMetadata;
    const hashes = secret_hashes.map((hash) => Buffer.from(hash, 'hex'));
    if (!matchesSecret(secret, hashes)) return false;
    const koa = OidcProvider.ctx;
    if (koa === undefined || koa.oidc.route !== 'token') return true;
    const taken = await limiter.take(`oauth_token ${this.clientId}`, config.limits.oauth_token);
    koa.set({
      'ratelimit-limit': `${taken.limit}`,
      'ratelimit-remaining': `${taken.remaining}`,
      'ratelimit-reset': `${taken.resetSeconds}`,
    });
    if (taken.allowed) return true;
    koa.set('retry-after', String(taken.resetSeconds));
    throw Object.assign(new CustomOIDCProviderError('temporarily_unavailable', 'too many token requests'), {
      status: 429,
      statusCode: 429,
    });
  };
}

/**
 * Verifies the ID token that tells us which user is signing out (`id_token_hint`). The signature, issuer and client
 * must be valid. An expired token is accepted, because a session can outlive its ID token (OpenID Connect RP-Initiated
 * Logout 1.0 §4).
 */
async function verifyIdTokenHint(provider: Provider, idToken: string): Promise<IdTokenHint | null> {
  const clientId = audienceOf(idToken);
  const client = clientId === null ? undefined : await provider.Client.find(clientId);
  if (client === undefined) return null;
  try {
    const { payload } = await provider.IdToken.validate(idToken, client);
    return { clientId: client.clientId, userId: String(payload.sub) };
  } catch {
    return null;
  }
}

/** Reads the client from a token that is not verified yet, because verifying the token requires the client. */
function audienceOf(idToken: string): string | null {
  try {
    const { aud } = JSON.parse(Buffer.from(idToken.split('.')[1] ?? '', 'base64url').toString()) ?? {};
    return typeof aud === 'string' ? aud : null;
  } catch {
    return null;
  }
}
