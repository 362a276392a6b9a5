import { json, redirect, refuse, refuseOthers } from './reply.ts';
import { answerCallback, beginSignIn } from './round-trip.ts';
import { isOwnPage, ownPath } from './same-origin.ts';
import type { Session } from './session.ts';
import type { SignIn } from './sign-in.ts';
import { SignInError } from './sign-in-error.ts';

export type HandlerOptions = {
  /** Of all paths but the callback's, which is that of the redirect URI; `/causeway` unless told. */
  prefix?: string | undefined;
  /** Where users go when no other page is known; `/` unless told. */
  home?: string | undefined;
  /** Told of failures that are no user's doing, for your log; they hold no secret. */
  onError?: ((error: unknown) => void) | undefined;
};

/** Takes a request and gives the reply: as it is for Next, Hono, Bun and Deno, by `toNode` or `toFastify` for others. */
export type Handler = ((request: Request) => Promise<Response>) & {
  readonly routes: readonly { readonly method: 'GET' | 'POST'; readonly path: string }[];
};

export type Parts = { signIn: SignIn; origin: string; home: string; onError: (error: unknown) => void };
type Answer = (parts: Parts, request: Request, url: URL) => Promise<Response>;

/**
 * The paths that a browser needs: `GET /causeway/sign-in?return_to=/path`, the callback, `GET /causeway/token`,
 * `GET /causeway/session` and `POST /causeway/sign-out`.
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
  const parts: Parts = { signIn, home, onError, origin: new URL(signIn.redirectUri).origin };
  const table: { method: 'GET' | 'POST'; path: string; answer: Answer }[] = [
    { method: 'GET', path: `${prefix}/sign-in`, answer: beginSignIn },
    { method: 'GET', path: new URL(signIn.redirectUri).pathname, answer: answerCallback },
    { method: 'GET', path: `${prefix}/token`, answer: giveToken },
    { method: 'GET', path: `${prefix}/session`, answer: giveSession },
    { method: 'POST', path: `${prefix}/sign-out`, answer: signOut },
  ];
  const handler = async (request: Request) => {
    const url = new URL(request.url);
    const here = table.filter(({ path }) => path === url.pathname);
    const found = here.find(({ method }) => method === request.method);
    if (found === undefined)
      return here[0] === undefined
        ? refuse(404, 'not_found', 'There is nothing here.')
        : refuse(405, 'method_not_allowed', 'Not by this method.', new Headers({ allow: here[0].method }));
    try {
      return await found.answer(parts, request, url);
    } catch (error) {
      onError(error);
      return refuse(500, 'internal_error', 'This cannot be answered now.');
    }
  };
  return Object.assign(handler, { routes: table.map(({ method, path }) => ({ method, path })) });
}

/** For the page's own client. The refresh token never leaves the server. */
async function giveToken(parts: Parts, request: Request, url: URL): Promise<Response> {
  if (!isOwnPage(request, parts.origin)) return refuseOthers();
  const { signIn, onError } = parts;
  const reply = new Headers();
  const session = await signIn.store.load(request);
  if (session === undefined) return refuse(401, 'not_signed_in', 'Nobody is signed in.');
  try {
    const wanted = url.searchParams.has('refresh') ? signIn.refresh : signIn.fresh;
    const fresh = await wanted(session);
    // Also when nothing was renewed just now: the reply that carried the cookie of the last renewal may have been lost.
    if (fresh.refreshedAt !== session.refreshedAt) await signIn.store.save(request, reply, fresh);
    return json(200, { access_token: fresh.accessToken, ...endOf(fresh, signIn.internals.now()) }, reply);
  } catch (error) {
    if (error instanceof SignInError && error.code === 'not_signed_in') {
      await signIn.store.clear(request, reply);
      return refuse(401, 'not_signed_in', 'The session has ended.', reply);
    }
    onError(error);
    const isAway = error instanceof SignInError && error.code === 'unavailable';
    return refuse(isAway ? 503 : 502, isAway ? 'upstream_unavailable' : 'upstream_error', 'No token now.');
  }
}

/** The page's clock may be wrong, so it is told the seconds as well. */
function endOf({ expiresAt }: Session, now: number) {
  const expires_in = Math.max(0, Math.floor((expiresAt - now) / 1000));
  return { expires_in, expires_at: new Date(expiresAt).toISOString() };
}

async function giveSession({ signIn, origin }: Parts, request: Request): Promise<Response> {
  if (!isOwnPage(request, origin)) return refuseOthers();
  const session = await signIn.store.load(request);
  if (session === undefined) return json(200, { signed_in: false });
  const { id, email } = session.user ?? {};
  return json(200, { signed_in: true, scope: session.scope, user: { id: id ?? null, email: email ?? null } });
}

async function signOut(
  { signIn, origin, home, onError }: Parts,
  request: Request,
  url: URL,
): Promise<Response> {
  if (!isOwnPage(request, origin)) return refuseOthers();
  const reply = new Headers();
  const session = await signIn.store.load(request);
  await signIn.store.clear(request, reply);
  // The user is out of this app whether or not the service can be reached.
  if (session !== undefined) await signIn.signOut(session).catch(onError);
  if (request.headers.get('accept')?.includes('text/html') !== true)
    return json(200, { signed_in: false }, reply);
  return redirect(ownPath(url.searchParams.get('return_to'), origin, home), reply);
}
