import { cookiesOf, type HasHeaders } from './cookies.ts';
import type { SignIn } from './sign-in.ts';
import { isSignInError } from './sign-in-error.ts';

export type RenewedSession = {
  /**
   * The request's `cookie` header with the renewed session. The page must read this header instead of the original one.
   */
  cookie: string;
  /** Add these headers (`set-cookie`) to the response. */
  headers: Headers;
};

/**
 * Renews a request's session before a page is rendered, for frameworks in which pages cannot set cookies. Returns
 * undefined if the cookies stay the same. Only `cookieSessions` needs this function: other stores save renewed sessions
 * themselves.
 *
 * @example
 * ```ts
 * import { renewSession, type SignIn } from '@causeway/sdk/server';
 *
 * export async function beforePage(signIn: SignIn, request: Request): Promise<Response | undefined> {
 *   const renewed = await renewSession(signIn, request);
 *   return renewed && new Response('the page, rendered with renewed.cookie', { headers: renewed.headers });
 * }
 * ```
 */
export async function renewSession(signIn: SignIn, request: HasHeaders): Promise<RenewedSession | undefined> {
  const session = await signIn.store.load(request);
  if (session === undefined) return undefined;
  const headers = new Headers();
  try {
    const fresh = await signIn.fresh(session);
    if (fresh.refreshedAt === session.refreshedAt) return undefined;
    await signIn.store.save(request, headers, fresh);
  } catch (error) {
    if (!isSignInError(error, 'not_signed_in')) throw error;
    await signIn.store.clear(request, headers);
  }
  return { cookie: withCookies(request, headers.getSetCookie()), headers };
}

/** Returns a request's cookies, updated with those that a response sets. An empty value removes a cookie. */
function withCookies(request: HasHeaders, set: readonly string[]): string {
  const cookies = cookiesOf(request);
  for (const line of set) {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    if (value === '') cookies.delete(name);
    else cookies.set(name, value);
  }
  return [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
}
