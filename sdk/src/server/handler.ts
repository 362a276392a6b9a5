import type { HandlerContext } from './handler-context.ts';
import { crossSiteReply, errorReply, jsonReply, redirectReply } from './reply.ts';
import { handleCallback, startSignIn } from './round-trip.ts';
import { isSameOrigin, localPath } from './same-origin.ts';
import type { Session } from './session.ts';
import type { SignIn } from './sign-in.ts';
import { SignInError } from './sign-in-error.ts';

export type HandlerOptions = {
  /** The prefix of all routes except the callback, whose path is that of the redirect URI. Default: `/causeway`. */
  prefix?: string | undefined;
  /** The path to send users to if no other is known. Default: `/`. */
  home?: string | undefined;
  /** Receives errors that users did not cause, so that you can log them. The errors contain no secrets. */
  onError?: ((error: unknown) => void) | undefined;
};

/** Answers web requests. Use it directly in Next, Hono, Bun and Deno, and through `toNode` or `toFastify` elsewhere. */
export type Handler = ((request: Request) => Promise<Response>) & {
  readonly routes: readonly { readonly method: 'GET' | 'POST'; readonly path: string }[];
};

type RouteHandler = (context: HandlerContext, request: Request, url: URL) => Promise<Response>;

/**
 * Creates the handler for the routes that a browser needs: `GET /causeway/sign-in?return_to=/path`, the callback,
 * `GET /causeway/token`, `GET /causeway/session` and `POST /causeway/sign-out`.
 *
 * @example
 * ```ts
 * import { createHandler, createSignIn } from '@causeway/sdk/server';
 *
 * const signIn = createSignIn({
 *   baseUrl: 'http://127.0.0.1:8080',
 *   clientId: 'sandbox-partner',
 *   clientSecret: process.env.CAUSEWAY_CLIENT_SECRET ?? '',
 *   redirectUri: 'http://localhost:3000/callback',
 *   cookieSecret: process.env.COOKIE_SECRET ?? 'x'.repeat(32),
 * });
 * const handler = createHandler(signIn, { onError: (error) => console.error(error) });
 * const reply = await handler(new Request('http://localhost:3000/causeway/sign-in?return_to=/offers'));
 * console.log(reply.status, reply.headers.get('location')); // 303, the service's sign-in page
 * ```
 */
export function createHandler(signIn: SignIn, options: HandlerOptions = {}): Handler {
  const { prefix = '/causeway', home = '/', onError = () => undefined } = options;
  const { origin, pathname: callbackPath } = new URL(signIn.redirectUri);
  const context: HandlerContext = { signIn, home, onError, origin };
  const routes: { method: 'GET' | 'POST'; path: string; handle: RouteHandler }[] = [
    { method: 'GET', path: `${prefix}/sign-in`, handle: startSignIn },
    { method: 'GET', path: callbackPath, handle: handleCallback },
    { method: 'GET', path: `${prefix}/token`, handle: handleToken },
    { method: 'GET', path: `${prefix}/session`, handle: handleSession },
    { method: 'POST', path: `${prefix}/sign-out`, handle: handleSignOut },
  ];
  const handler = async (request: Request) => {
    const url = new URL(request.url);
    const [first, ...others] = routes.filter(({ path }) => isSamePath(path, url.pathname));
    if (first === undefined) return errorReply(404, 'not_found', 'Not found.');
    const route = [first, ...others].find(({ method }) => method === request.method);
    if (route === undefined) {
      const allow = new Headers({ allow: first.method });
      return errorReply(405, 'method_not_allowed', `Use ${first.method} for this path.`, allow);
    }
    try {
      return await route.handle(context, request, url);
    } catch (error) {
      onError(error);
      return errorReply(500, 'internal_error', 'The request failed. Try again later.');
    }
  };
  return Object.assign(handler, { routes: routes.map(({ method, path }) => ({ method, path })) });
}

/** Ignores a trailing slash, because some hosts redirect every path to one that ends in a slash. */
export function isSamePath(path: string, requested: string): boolean {
  return path.replace(/\/$/, '') === requested.replace(/\/$/, '');
}

/** Sends the page an access token, but never the refresh token. */
async function handleToken(context: HandlerContext, request: Request, url: URL): Promise<Response> {
  if (!isSameOrigin(request, context.origin)) return crossSiteReply();
  const { signIn, onError } = context;
  const reply = new Headers();
  const session = await signIn.store.load(request);
  if (session === undefined) return errorReply(401, 'not_signed_in', 'No user is signed in.');
  try {
    const isForced = url.searchParams.has('refresh');
    const fresh = await (isForced ? signIn.refresh(session) : signIn.fresh(session));
    // Saves the session even if an earlier request renewed it: the response with the new cookie may not have reached
    // the browser.
    if (fresh.refreshedAt !== session.refreshedAt) await signIn.store.save(request, reply, fresh);
    const expiry = expiryOf(fresh, signIn.internals.now());
    return jsonReply(200, { access_token: fresh.accessToken, ...expiry }, reply);
  } catch (error) {
    if (error instanceof SignInError && error.code === 'not_signed_in') {
      await signIn.store.clear(request, reply);
      return errorReply(401, 'not_signed_in', 'The session has expired. Sign in again.', reply);
    }
    onError(error);
    return error instanceof SignInError && error.code === 'unavailable'
      ? errorReply(503, 'upstream_unavailable', 'Causeway is unavailable. Try again later.')
      : errorReply(502, 'upstream_error', 'Causeway rejected the token request.');
  }
}

/** Returns the expiry time, and also the remaining seconds, because the browser's clock may be wrong. */
function expiryOf({ expiresAt }: Session, now: number) {
  const expires_in = Math.max(0, Math.floor((expiresAt - now) / 1000));
  return { expires_in, expires_at: new Date(expiresAt).toISOString() };
}

async function handleSession({ signIn, origin }: HandlerContext, request: Request): Promise<Response> {
  if (!isSameOrigin(request, origin)) return crossSiteReply();
  const session = await signIn.store.load(request);
  if (session === undefined) return jsonReply(200, { signed_in: false });
  const { id, email } = session.user ?? {};
  const user = { id: id ?? null, email: email ?? null };
  return jsonReply(200, { signed_in: true, scope: session.scope, user });
}

async function handleSignOut(
  { signIn, origin, home, onError }: HandlerContext,
  request: Request,
  url: URL,
): Promise<Response> {
  if (!isSameOrigin(request, origin)) return crossSiteReply();
  const reply = new Headers();
  const session = await signIn.store.load(request);
  await signIn.store.clear(request, reply);
  // A failed revocation must not keep the user signed in to this app.
  if (session !== undefined) await signIn.signOut(session).catch(onError);
  if (request.headers.get('accept')?.includes('text/html') !== true)
    return jsonReply(200, { signed_in: false }, reply);
  return redirectReply(localPath(url.searchParams.get('return_to'), origin, home), reply);
}
