import { cookieName, cookiesOf, writeCookie } from './cookies.ts';
import type { HandlerContext } from './handler-context.ts';
import type { Pending } from './pending.ts';
import { errorReply, redirectReply } from './reply.ts';
import { isNavigation, localPath } from './same-origin.ts';
import { SignInError, type SignInErrorCode } from './sign-in-error.ts';

const PENDING_TTL_S = 600;
/**
 * How many sign-ins a browser can have in progress, for example in several tabs. Starting one more sign-in cancels an
 * earlier one by deleting its cookie.
 */
const MAX_PENDING = 4;
const PENDING_PREFIX = 'causeway_pending_';

export async function startSignIn(
  { signIn, origin, home }: HandlerContext,
  request: Request,
  url: URL,
): Promise<Response> {
  if (!isNavigation(request))
    return errorReply(
      403,
      'cross_site_request',
      'Open this URL as a page; it cannot be embedded or fetched.',
    );
  const parameters = url.searchParams;
  const loginHint = parameters.get('login_hint')?.slice(0, 254);
  const prompt = (['none', 'login', 'consent'] as const).find((value) => value === parameters.get('prompt'));
  const returnTo = withoutError(localPath(parameters.get('return_to'), origin, home), origin);
  const { url: location, pending } = signIn.authorizeUrl({ returnTo, loginHint, prompt });
  const reply = new Headers();
  const secure = origin.startsWith('https:');
  const others = pendingNames(request, secure);
  for (const name of others.slice(0, Math.max(0, others.length - MAX_PENDING + 1)))
    reply.append('set-cookie', writeCookie(name, '', { secure, maxAge: 0 }));
  const name = pendingName(pending.state, secure);
  const sealed = signIn.internals.seal(name, pending, pending.until);
  reply.append('set-cookie', writeCookie(name, sealed, { secure, maxAge: PENDING_TTL_S }));
  return redirectReply(location, reply);
}

/**
 * Finishes a sign-in and redirects the browser to the path chosen when the sign-in started. If the sign-in failed, adds
 * the error code to this path, as `?causeway_error=code`.
 */
export async function handleCallback(
  { signIn, origin, home, onError }: HandlerContext,
  request: Request,
  url: URL,
): Promise<Response> {
  const secure = origin.startsWith('https:');
  const name = pendingName(url.searchParams.get('state') ?? '', secure);
  const sealed = cookiesOf(request).get(name);
  const pending =
    sealed === undefined ? undefined : (signIn.internals.open(name, sealed, 0) as Pending | undefined);
  const returnTo = pending?.returnTo ?? home;
  const reply = new Headers();
  if (sealed !== undefined) reply.append('set-cookie', writeCookie(name, '', { secure, maxAge: 0 }));
  try {
    const session = await signIn.exchange(url, pending);
    await signIn.store.save(request, reply, session);
    return redirectReply(returnTo, reply);
  } catch (error) {
    const code: SignInErrorCode = error instanceof SignInError ? error.code : 'refused';
    if (NEEDS_ATTENTION.has(code)) onError(error);
    return redirectReply(withError(returnTo, origin, code), reply);
  }
}

/** Failures that indicate a misconfiguration, an outage or an attack rather than a user mistake. */
const NEEDS_ATTENTION: ReadonlySet<SignInErrorCode> = new Set([
  'refused',
  'unavailable',
  'session_too_large',
  'issuer_mismatch',
]);

function withError(path: string, origin: string, code: SignInErrorCode): string {
  const url = new URL(path, origin);
  url.searchParams.set('causeway_error', code);
  return `${url.pathname}${url.search}${url.hash}`;
}

/** Removes the `causeway_error` parameter that an earlier failed sign-in may have added to the path. */
function withoutError(path: string, origin: string): string {
  const url = new URL(path, origin);
  if (url.searchParams.has('causeway_error')) url.searchParams.delete('causeway_error');
  return `${url.pathname}${url.search}${url.hash}`;
}

/** Returns a separate cookie name for each sign-in, so that tabs do not overwrite each other's cookies. */
function pendingName(state: string, secure: boolean): string {
  return cookieName(PENDING_PREFIX + state.slice(0, 8).replace(/[^\w-]/g, ''), secure);
}

function pendingNames(request: Request, secure: boolean): string[] {
  const prefix = cookieName(PENDING_PREFIX, secure);
  return [...cookiesOf(request).keys()].filter((name) => name.startsWith(prefix));
}
