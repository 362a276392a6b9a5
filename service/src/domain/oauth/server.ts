import type { EventEmitter } from 'node:events';
import type Provider from 'oidc-provider';
import type { ErrorOut, KoaContextWithOIDC } from 'oidc-provider';
import { Provider as OidcProvider } from 'oidc-provider/lib/provider.js';
import type { Kernel } from '../../platform/context/kernel.ts';
import type { OAuth, OAuthHooks, TokenGuard } from '../../platform/context/ports.ts';
import { pageHeaders } from '../../platform/pages/headers.ts';
import { renderPage } from '../../platform/pages/layout.ts';
import { signInFailedPage } from '../../platform/pages/message-page.ts';
import { findAccount } from './account.ts';
import { type ExtraMetadata, findClient, isLocalhost } from './client.ts';
import { authenticateByHash } from './client-authentication.ts';
import { configure } from './configuration.ts';
import { grantConsent } from './consent.ts';
import { listConnectedApps } from './grant-store.ts';
import { verifyIdTokenHint } from './id-token-hint.ts';
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

/**
 * Lets clients that have registered `LOCALHOST_PATTERN` redirect to any localhost URI. All other redirects must match a
 * registered URI exactly.
 */
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
