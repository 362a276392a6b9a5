import type Koa from 'koa';
import type Provider from 'oidc-provider';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { realTime } from '../../kernel/clock.ts';
import { ERRORS, type ErrorCode } from '../../kernel/errors.ts';
import type { Kernel } from '../../platform/context/kernel.ts';
import type { OAuthHooks } from '../../platform/context/ports.ts';
import { isDatabaseUnavailable } from '../../platform/db/unavailable.ts';
import type { ExtraMetadata } from './client.ts';
import { requestFacts } from './oidc-request.ts';
import { defaultScope } from './scopes.ts';

type Dependencies = Pick<Kernel, 'baseUrl' | 'securityHeaders'>;

/** Wraps oidc-provider: adds missing parameters to requests, and completes the replies to match the API contract. */
export function adaptReplies(ctx: Dependencies, provider: Provider, hooks: OAuthHooks) {
  return async (koa: Koa.Context, next: Koa.Next): Promise<void> => {
    const { id, origin } = requestFacts(koa.req);
    koa.set({ ...ctx.securityHeaders, 'x-request-id': id });
    try {
      await prepareAuthorize(provider, koa, hooks);
      await next();
    } catch (error) {
      provider.emit('server_error', koa as unknown as KoaContextWithOIDC, error as Error);
      koa.status = 500;
      koa.body = { error: 'server_error' };
    }
    if (koa.status >= 500 && isDatabaseUnavailable(koa.state.failure)) answerUnavailable(koa);
    if (koa.path.startsWith('/.well-known/')) completeDiscovery(koa, ctx.baseUrl);
    if (koa.path === '/oauth/revoke') completeRevocation(koa);
    if (koa.status >= 400) completeError(koa, id);
    setCors(koa, origin);
  };
}

async function prepareAuthorize(provider: Provider, koa: Koa.Context, hooks: OAuthHooks): Promise<void> {
  if (koa.path === '/oauth/authorize') koa.query = await completeQuery(provider, koa.query);
  if (koa.path.startsWith('/oauth/authorize') && hooks.signIn !== null)
    await syncSession(provider, koa, hooks.signIn);
}

/** Replies 503. If oidc-provider has already rendered a page for the browser, keeps that page as the body. */
function answerUnavailable(koa: Koa.Context): void {
  const isPage = typeof koa.body === 'string';
  koa.status = 503;
  koa.set('retry-after', '2');
  if (!isPage) koa.body = { error: 'temporarily_unavailable', error_description: ERRORS.unavailable[1] };
}

/**
 * Adds the default scope and the exact time of the request. Replaces the response types of the implicit and hybrid
 * flows, which we do not support, with `unsupported`. For the original types, oidc-provider would report the error in
 * the URL fragment, where clients of the code flow do not look.
 */
async function completeQuery(provider: Provider, query: Koa.Context['query']): Promise<Koa.Context['query']> {
  const scope = await defaultScope(provider, query);
  const isFragment = typeof query.response_type === 'string' && query.response_type.includes('token');
  return {
    ...query,
    ...(scope !== undefined && { scope }),
    ...(isFragment && { response_type: 'unsupported' }),
    requested_at: String(realTime()),
  };
}

/**
 * Updates oidc-provider's session from the sign-in on the hosted pages. Ends the session if this browser has signed out
 * there or switched accounts. If the user has signed in again, the session gets the time and the methods of the newer
 * sign-in. Without this update, a session that began with a passkey would still report a passkey after a later sign-in
 * with a password.
 */
async function syncSession(
  provider: Provider,
  koa: Koa.Context,
  readSignIn: NonNullable<OAuthHooks['signIn']>,
): Promise<void> {
  const session = await provider.Session.get(koa as unknown as KoaContextWithOIDC);
  if (session.accountId === undefined) return;
  const signIn = await readSignIn(koa.req.headers.cookie);
  if (signIn === null || signIn.userId !== session.accountId) return session.destroy();
  if (session.loginTs === signIn.at && session.amr?.join() === signIn.amr.join()) return;
  session.loginTs = signIn.at;
  session.amr = signIn.amr;
  await session.persist();
}

function completeDiscovery(koa: Koa.Context, baseUrl: string): void {
  if (typeof koa.body !== 'object' || koa.body === null) return;
  const methods = ['client_secret_basic', 'client_secret_post'];
  koa.body = {
    ...koa.body,
    response_modes_supported: ['query'],
    introspection_endpoint: `${baseUrl}/oauth/introspect`,
    end_session_endpoint: `${baseUrl}/oauth/logout`,
    introspection_endpoint_auth_methods_supported: methods,
    revocation_endpoint_auth_methods_supported: methods,
  };
}

/** Replies 200 for invalid tokens too (RFC 7009 §2.2). */
function completeRevocation(koa: Koa.Context): void {
  const { error } = (koa.body ?? {}) as { error?: string };
  if (koa.status >= 400 && error !== 'unsupported_token_type') return;
  koa.status = 200;
  koa.body = {};
}

type OAuthError = { error?: string; error_description?: string };

/** Reports missing authentication as `invalid_client` (RFC 6749 §5.2), not oidc-provider's `invalid_request`. */
function completeClientError(koa: Koa.Context): void {
  const body = koa.body as OAuthError | null;
  if (body?.error_description !== 'no client authentication mechanism provided') return;
  koa.status = 401;
  koa.body = { ...body, error: 'invalid_client' };
}

/** Adds the API's error object to the members that RFC 6749 defines. */
function completeError(koa: Koa.Context, id: string): void {
  koa.set('cache-control', 'no-store');
  completeClientError(koa);
  if (koa.status === 401 && !koa.response.get('www-authenticate')) {
    koa.set('www-authenticate', `${koa.path === '/oauth/userinfo' ? 'Bearer' : 'Basic'} realm="causeway"`);
  }
  if (typeof koa.body !== 'object' || koa.body === null) return;
  const body = koa.body as OAuthError;
  const code = errorCode(koa.status);
  koa.body = {
    ...body,
    message: body.error_description ?? ERRORS[code][1],
    type: 'api_error',
    code,
    errors: {},
    event_id: id,
  };
}

function errorCode(status: number): ErrorCode {
  if (status === 401) return 'unauthorized';
  if (status === 403) return 'insufficient_scope';
  if (status === 429) return 'rate_limited';
  if (status === 503) return 'unavailable';
  return status >= 500 ? 'internal_error' : 'malformed_request';
}

/** Lets every origin read the public documents, and the origins of the client's partner read everything else. */
function setCors(koa: Koa.Context, origin: string | undefined): void {
  for (const name of Object.keys(koa.response.headers))
    if (name.startsWith('access-control-')) koa.remove(name);
  const isPublic = koa.path.startsWith('/.well-known/') || koa.path === '/oauth/jwks';
  const { client } = (koa as unknown as KoaContextWithOIDC).oidc ?? {};
  const { origins = [] } = (client ?? {}) as Partial<ExtraMetadata>;
  if (!isPublic && (origin === undefined || !origins.includes(origin))) return;
  koa.set({
    'access-control-allow-origin': isPublic ? '*' : String(origin),
    'cross-origin-resource-policy': 'cross-origin',
    'access-control-expose-headers': 'X-Request-Id, Retry-After',
  });
}
