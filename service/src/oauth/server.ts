import type { EventEmitter } from 'node:events';
import type { FastifyRequest } from 'fastify';
import type Provider from 'oidc-provider';
import type { AccountClaims, ErrorOut, InteractionResults, KoaContextWithOIDC } from 'oidc-provider';
import { CustomOIDCProviderError } from 'oidc-provider/lib/helpers/errors.js';
import { Provider as LibraryProvider } from 'oidc-provider/lib/provider.js';
import type { Kernel } from '../kernel.ts';
import { pageHeaders } from '../pages/headers.ts';
import { matchesSecret } from '../secret-hash.ts';
import { findClient, type OwnMetadata, type RegisteredClient } from './client.ts';
import { configure, findAccount } from './configuration.ts';
import { plainErrorPage } from './error-page.ts';
import { allowConsent, type ConnectedApp, listConnectedApps, revokeGrants } from './grants.ts';
import type { TokenGuard } from './guard.ts';
import type { OAuthHooks } from './hooks.ts';
import { loadSigningKeys } from './keys.ts';
import { libraryRequest } from './library-request.ts';
import { adaptReplies } from './middleware.ts';
import { partnerTokenGrant } from './scopes.ts';

/** The authorization server as the rest of the service uses it. */
export type OAuth = {
  /** The library; another one after the signing keys have changed. */
  provider(): Provider;
  hooks: OAuthHooks;
  /** The interaction that a page at `/interaction/{uid}` is about; throws when the browser has none. */
  interaction(request: FastifyRequest): Promise<Interaction>;
  /** What a user's "allow" amounts to: a grant of the scopes that were asked for, to finish the interaction with. */
  allowConsent(interaction: Interaction): Promise<InteractionResults>;
  /** Stores what the user decided and gives the address to send the browser to (with 303). */
  finishInteraction(request: FastifyRequest, result: InteractionResults): Promise<string>;
  /** What an ID token may say about a user. */
  accountClaims(userId: string): Promise<AccountClaims>;
  findPartnerByClient(clientId: string): Promise<RegisteredClient | undefined>;
  /** The apps that hold a live grant of this user. */
  listGrants(userId: string): Promise<ConnectedApp[]>;
  /** Disconnects an app, or all of them: every token ends on every node within a second. */
  revokeGrant(userId: string, clientId?: string): Promise<void>;
};

export type Interaction = InstanceType<Provider['Interaction']>;

type Parts = Pick<
  Kernel,
  'db' | 'baseUrl' | 'sealing' | 'random' | 'log' | 'limiter' | 'config' | 'listener' | 'securityHeaders'
> & { guard: TokenGuard };

export async function createOAuth(ctx: Parts): Promise<OAuth> {
  const hooks: OAuthHooks = { signedInUser: null, errorPage: plainErrorPage };
  let current = await buildProvider(ctx, hooks);
  let reloading = Promise.resolve();
  const reload = () => {
    reloading = reloading
      .then(async () => {
        current = await buildProvider(ctx, hooks);
      })
      .catch((err: unknown) => ctx.log.error({ err }, 'the signing keys could not be loaded'));
  };
  await ctx.listener.on('oauth', (message) => message.startsWith('key ') && reload());
  ctx.listener.onRestored(reload);
  // The library reads the cookies of the request and writes nothing to the reply here.
  const nowhere = { setHeader: () => undefined, getHeader: () => undefined } as unknown as Parameters<
    Provider['interactionDetails']
  >[1];
  return {
    provider: () => current,
    hooks,
    interaction: (request) => current.interactionDetails(libraryRequest(request, ctx.baseUrl), nowhere),
    allowConsent: (interaction) => allowConsent(current, interaction),
    finishInteraction: (request, result) =>
      current.interactionResult(libraryRequest(request, ctx.baseUrl), nowhere, result),
    accountClaims: async (userId) => {
      const account = await findAccount(ctx, userId);
      if (account === undefined) throw new Error('there is no such user');
      return account.claims('id_token', 'openid email', {}, []);
    },
    findPartnerByClient: (clientId) => findClient(ctx.db, clientId),
    listGrants: (userId) => listConnectedApps(ctx.db, userId),
    revokeGrant: async (userId, clientId) => {
      for (const id of await revokeGrants(ctx.db, userId, clientId))
        ctx.guard.applyNotification(`grant ${id}`);
    },
  };
}

async function buildProvider(ctx: Parts, hooks: OAuthHooks): Promise<Provider> {
  const provider = new LibraryProvider(ctx.baseUrl, {
    ...configure(ctx, await loadSigningKeys(ctx)),
    renderError: async (koa, out) => renderError(koa, out, hooks),
  });
  // `libraryRequest` sets the forwarded headers itself, from our own address.
  provider.proxy = true;
  provider.use(adaptReplies(ctx, provider, hooks));
  provider.registerGrantType('client_credentials', partnerTokenGrant(provider), ['scope']);
  compareHashes(ctx, provider);
  provider.on('server_error', (_koa, err) => ctx.log.error({ err }, 'the authorization server failed'));
  (provider as EventEmitter).on('error', (err: unknown) =>
    ctx.log.error({ err }, 'the authorization server failed'),
  );
  return provider;
}

async function renderError(koa: KoaContextWithOIDC, out: ErrorOut, hooks: OAuthHooks): Promise<void> {
  if (koa.accepts('json', 'html') !== 'html') {
    koa.body = out;
    return;
  }
  koa.set(pageHeaders());
  koa.type = 'html';
  koa.body = hooks.errorPage(out.error_description ?? out.error);
}

/** Secrets are compared by hash, and only a client that proved itself spends its budget of token requests. */
function compareHashes({ limiter, config }: Parts, provider: Provider): void {
  provider.Client.prototype.compareClientSecret = async function (actual: string): Promise<boolean> {
    const { secret_hashes } = this as unknown as OwnMetadata;
    if (
      !matchesSecret(
        actual,
        secret_hashes.map((hash) => Buffer.from(hash, 'hex')),
      )
    )
      return false;
    const koa = LibraryProvider.ctx;
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
