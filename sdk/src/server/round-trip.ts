import { cookieName, cookiesOf, writeCookie } from './cookies.ts';
import type { Parts } from './handler.ts';
import type { Pending } from './pending.ts';
import { redirect, refuse } from './reply.ts';
import { isNavigation, ownPath } from './same-origin.ts';
import { SignInError, type SignInErrorCode } from './sign-in-error.ts';

const PENDING_SECONDS = 600;
/** Of tabs that sign in side by side; others are let go, so that nobody can fill a browser with cookies. */
const MAX_PENDING = 4;
const PENDING = 'causeway_pending_';

export async function beginSignIn(
  { signIn, origin, home }: Parts,
  request: Request,
  url: URL,
): Promise<Response> {
  if (!isNavigation(request))
    return refuse(403, 'cross_site_request', 'Open this address; it cannot be embedded.');
  const asked = url.searchParams;
  const loginHint = asked.get('login_hint')?.slice(0, 254);
  const prompt = (['none', 'login', 'consent'] as const).find((one) => one === asked.get('prompt'));
  const returnTo = withError(ownPath(asked.get('return_to'), origin, home), origin, undefined);
  const { url: location, pending } = signIn.authorizeUrl({ returnTo, loginHint, prompt });
  const reply = new Headers();
  const secure = origin.startsWith('https:');
  const others = pendingNames(request, secure);
  for (const name of others.slice(0, Math.max(0, others.length - MAX_PENDING + 1)))
    reply.append('set-cookie', writeCookie(name, '', { secure, maxAge: 0 }));
  const name = pendingName(pending.state, secure);
  const sealed = signIn.internals.seal(name, pending, pending.until);
  reply.append('set-cookie', writeCookie(name, sealed, { secure, maxAge: PENDING_SECONDS }));
  return redirect(location, reply);
}

/** A failure goes back to the page that asked, as `?causeway_error=code`. */
export async function answerCallback(
  { signIn, origin, home, onError }: Parts,
  request: Request,
  url: URL,
): Promise<Response> {
  const secure = origin.startsWith('https:');
  const name = pendingName(url.searchParams.get('state') ?? '', secure);
  const sealed = cookiesOf(request).get(name);
  const pending =
    sealed === undefined ? undefined : (signIn.internals.open(name, sealed, 0) as Pending | undefined);
  const back = pending?.returnTo ?? home;
  const reply = new Headers();
  if (sealed !== undefined) reply.append('set-cookie', writeCookie(name, '', { secure, maxAge: 0 }));
  try {
    const session = await signIn.exchange(url, pending);
    await signIn.store.save(request, reply, session);
    return redirect(back, reply);
  } catch (error) {
    const code: SignInErrorCode = error instanceof SignInError ? error.code : 'refused';
    if (!isUsersDoing(code)) onError(error);
    return redirect(withError(back, origin, code), reply);
  }
}

/** Undefined takes away what an earlier attempt has left. */
function withError(path: string, origin: string, code: SignInErrorCode | undefined): string {
  const url = new URL(path, origin);
  if (code !== undefined) url.searchParams.set('causeway_error', code);
  else if (url.searchParams.has('causeway_error')) url.searchParams.delete('causeway_error');
  return `${url.pathname}${url.search}${url.hash}`;
}

function isUsersDoing(code: SignInErrorCode): boolean {
  return (
    code !== 'refused' && code !== 'unavailable' && code !== 'session_too_large' && code !== 'issuer_mismatch'
  );
}

/** One cookie per sign-in, so that two tabs do not spoil each other's. */
function pendingName(state: string, secure: boolean): string {
  return cookieName(PENDING + state.slice(0, 8).replace(/[^\w-]/g, ''), secure);
}

function pendingNames(request: Request, secure: boolean): string[] {
  const start = cookieName(PENDING, secure);
  return [...cookiesOf(request).keys()].filter((name) => name.startsWith(start));
}
