/// <reference path="./next.d.ts" />
import type { Causeway } from '../client.ts';
import { createHandler, type Handler, type HandlerOptions } from '../server/handler.ts';
import { renewSession } from '../server/renew-session.ts';
import type { Session } from '../server/session.ts';
import type { SessionStorage } from '../server/session-storage.ts';
import { createSignIn, defaultSessions, type SignIn, type SignInOptions } from '../server/sign-in.ts';
import { userClient } from '../server/user-client.ts';

export type CausewayNextOptions = SignInOptions & HandlerOptions;

/** The user of the current request, and a client that acts for that user on the server. */
export type NextUser = { user: Session['user']; scope: string; causeway: Causeway };

export type CausewayNext = {
  /** Route handlers. Export them from `app/causeway/[...path]/route.ts` and from the redirect URI's route. */
  handlers: {
    GET(request: Request): Promise<Response>;
    POST(request: Request): Promise<Response>;
  };
  /**
   * Returns the user of the current request, or undefined if nobody is signed in. For server components and actions.
   */
  getUser(): Promise<NextUser | undefined>;
  /** Like `getUser`, but if nobody is signed in, redirects to the sign-in page. `returnTo` is a path in your app. */
  requireUser(options?: { returnTo?: string | undefined }): Promise<NextUser>;
  /**
   * Renews sessions before pages are rendered, because server components cannot set cookies. Needed only with
   * `cookieSessions`. Export this function from `proxy.ts`. In Next 15.5, export it as `middleware` with the `nodejs`
   * runtime. Older versions of Next cannot renew cookie sessions and need a different session store.
   */
  proxy(request: Request): Promise<Response>;
};

const SHARED_SESSIONS = Symbol.for('@causeway/sdk/next sessions');

/**
 * Connects an app that uses Next's app router: serves the sign-in routes, and tells server components who is signed in.
 * `configure` runs on the first request, so that a build needs no secrets.
 *
 * @example
 * ```ts no-run
 * // causeway.ts
 * import { createCausewayNext } from '@causeway/sdk/next';
 *
 * export const { handlers, getUser, requireUser } = createCausewayNext(() => ({
 *   baseUrl: process.env.CAUSEWAY_URL ?? '',
 *   clientId: process.env.CAUSEWAY_CLIENT_ID ?? '',
 *   clientSecret: process.env.CAUSEWAY_CLIENT_SECRET ?? '',
 *   redirectUri: 'http://localhost:4000/callback',
 *   cookieSecret: process.env.COOKIE_SECRET ?? '',
 * }));
 * // app/causeway/[...path]/route.ts and app/callback/route.ts: export const { GET, POST } = handlers;
 * ```
 */
export function createCausewayNext(configure: () => CausewayNextOptions): CausewayNext {
  let created: { options: CausewayNextOptions; signIn: SignIn; handler: Handler } | undefined;
  const setUp = () => {
    if (created !== undefined) return created;
    const options = configure();
    const signIn = createSignIn({ ...options, store: options.store ?? sharedSessions() });
    created = { options, signIn, handler: createHandler(signIn, options) };
    return created;
  };
  const handle = (request: Request) => setUp().handler(request);

  const getUser = async (): Promise<NextUser | undefined> => {
    const { headers } = await import('next/headers.js');
    // Reads the headers before anything else, so that Next does not run the code below while it prerenders.
    const request = { headers: await headers() };
    const { options, signIn } = setUp();
    const found = await userClient(signIn, request, { baseUrl: options.baseUrl });
    // Server components cannot set cookies, so the cookies of a renewed session are dropped. Only `cookieSessions`
    // needs these cookies, and `proxy` renews the sessions of `cookieSessions` before the page is rendered.
    return found && { user: found.session.user, scope: found.session.scope, causeway: found.causeway };
  };
  const proxy = async (request: Request): Promise<Response> => {
    const { NextResponse } = await import('next/server.js');
    const { options, signIn } = setUp();
    // If the renewal fails, for example because the service is unavailable, the page is rendered with the old session.
    const renewed = await renewSession(signIn, request).catch((error) => void options.onError?.(error));
    if (!renewed) return NextResponse.next();
    const headers = new Headers(request.headers);
    headers.set('cookie', renewed.cookie);
    const reply = NextResponse.next({ request: { headers } });
    for (const cookie of renewed.headers.getSetCookie()) reply.headers.append('set-cookie', cookie);
    return reply;
  };
  return {
    handlers: { GET: handle, POST: handle },
    proxy,
    getUser,
    requireUser: async ({ returnTo = '/' } = {}) => {
      const user = await getUser();
      if (user !== undefined) return user;
      const { redirect } = await import('next/navigation.js');
      const { prefix = '/causeway' } = setUp().options;
      return redirect(`${prefix}/sign-in?${new URLSearchParams({ return_to: returnTo })}`);
    },
  };
}

/**
 * Returns one storage for the whole process, because Next loads this module several times: for routes, for components,
 * and again after every edit in development.
 */
function sharedSessions(): SessionStorage {
  const shared = globalThis as { [SHARED_SESSIONS]?: SessionStorage };
  shared[SHARED_SESSIONS] ??= defaultSessions(Date.now);
  return shared[SHARED_SESSIONS];
}
