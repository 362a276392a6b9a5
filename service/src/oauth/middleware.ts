import type Koa from 'koa';
import type Provider from 'oidc-provider';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { ERRORS, type ErrorCode } from '../errors.ts';
import type { Kernel } from '../kernel.ts';
import type { OwnMetadata } from './client.ts';
import type { OAuthHooks } from './hooks.ts';
import { originOf } from './library-request.ts';
import { defaultScope } from './scopes.ts';

type Parts = Pick<Kernel, 'baseUrl' | 'securityHeaders'>;

/** Around the library: requests as it wants them, replies as the contract wants them. */
export function adaptReplies(ctx: Parts, provider: Provider, hooks: OAuthHooks) {
  return async (koa: Koa.Context, next: Koa.Next): Promise<void> => {
    const { id, origin } = originOf(koa.req);
    koa.set({ ...ctx.securityHeaders, 'x-request-id': id });
    if (koa.path === '/oauth/authorize') {
      const scope = await defaultScope(provider, koa.query);
      if (scope !== undefined) koa.query = { ...koa.query, scope };
    }
    if (koa.path.startsWith('/oauth/authorize') && hooks.signedInUser !== null)
      await followPages(provider, koa, hooks.signedInUser);
    await next();
    if (koa.path.startsWith('/.well-known/')) completeDiscovery(koa, ctx.baseUrl);
    if (koa.path === '/oauth/revoke') answerRevocation(koa);
    if (koa.status >= 400) completeFailure(koa, id);
    setCors(koa, origin);
  };
}

/** The library's session ends when the pages' session of the same browser has ended or is another user's. */
async function followPages(
  provider: Provider,
  koa: Koa.Context,
  signedInUser: NonNullable<OAuthHooks['signedInUser']>,
): Promise<void> {
  const session = await provider.Session.get(koa as unknown as KoaContextWithOIDC);
  if (session.accountId === undefined) return;
  if ((await signedInUser(koa.req.headers.cookie)) !== session.accountId) await session.destroy();
}

function completeDiscovery(koa: Koa.Context, baseUrl: string): void {
  if (typeof koa.body !== 'object' || koa.body === null) return;
  const methods = ['client_secret_basic', 'client_secret_post'];
  koa.body = {
    ...koa.body,
    response_modes_supported: ['query'],
    introspection_endpoint: `${baseUrl}/oauth/introspect`,
    introspection_endpoint_auth_methods_supported: methods,
    revocation_endpoint_auth_methods_supported: methods,
  };
}

/** Whatever the token was, it is worth nothing now (RFC 7009 §2.2). */
function answerRevocation(koa: Koa.Context): void {
  const { error } = (koa.body ?? {}) as { error?: string };
  if (koa.status >= 400 && error !== 'unsupported_token_type') return;
  koa.status = 200;
  koa.body = {};
}

type OAuthFailure = { error?: string; error_description?: string };

/** The error object of the API beside the members of RFC 6749. */
function completeFailure(koa: Koa.Context, id: string): void {
  koa.set('cache-control', 'no-store');
  if (koa.status === 401 && !koa.response.get('www-authenticate')) {
    koa.set('www-authenticate', `${koa.path === '/oauth/userinfo' ? 'Bearer' : 'Basic'} realm="causeway"`);
  }
  if (typeof koa.body !== 'object' || koa.body === null) return;
  const failure = koa.body as OAuthFailure;
  const code = codeOf(koa.status);
  koa.body = {
    ...failure,
    message: failure.error_description ?? ERRORS[code][1],
    type: 'api_error',
    code,
    errors: {},
    event_id: id,
  };
}

function codeOf(status: number): ErrorCode {
  if (status === 401) return 'unauthorized';
  if (status === 403) return 'insufficient_scope';
  if (status === 429) return 'rate_limited';
  return status >= 500 ? 'internal_error' : 'malformed_request';
}

/** Documents for everyone are readable by every page; all else by pages of the client's partner. */
function setCors(koa: Koa.Context, origin: string | undefined): void {
  for (const name of Object.keys(koa.response.headers))
    if (name.startsWith('access-control-')) koa.remove(name);
  const isPublic = koa.path.startsWith('/.well-known/') || koa.path === '/oauth/jwks';
  const { client } = (koa as unknown as KoaContextWithOIDC).oidc ?? {};
  const { origins = [] } = (client ?? {}) as Partial<OwnMetadata>;
  if (!isPublic && (origin === undefined || !origins.includes(origin))) return;
  koa.set({
    'access-control-allow-origin': isPublic ? '*' : String(origin),
    'cross-origin-resource-policy': 'cross-origin',
    'access-control-expose-headers': 'X-Request-Id, Retry-After',
  });
}
