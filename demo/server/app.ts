import type { RequestListener } from 'node:http';
import {
  cookieSessions,
  createHandler,
  createSignIn,
  partnerClient,
  type SignIn,
  toNode,
} from '@causeway/sdk/server';
import { configFor, policyFor } from './config.ts';

import type { Pages } from './pages.ts';
import { forwardControl, forwardMail } from './sandbox.ts';
import type { DemoSettings } from './settings.ts';

const MAX_BODY_BYTES = 65_536;

/**
 * Creates the app's request listener. It serves the SDK's sign-in routes, the demo's own routes and, for any other
 * path, the page.
 */
export function createApp(settings: DemoSettings, origin: string, pages: Pages): RequestListener {
  const { baseUrl, clientId, clientSecret } = settings;
  const signIn = createSignIn({
    baseUrl,
    clientId,
    clientSecret,
    redirectUri: `${origin}/callback`,
    cookieSecret: settings.sessionSecrets,
    // Sessions live in a cookie, so the demo needs no database, and visitors stay signed in when the demo restarts.
    store: cookieSessions({ secret: settings.sessionSecrets, secure: origin.startsWith('https:') }),
  });
  const onError = (error: unknown) => console.error('Harbour Invest: request failed:', error);
  const signInRoutes = toNode(createHandler(signIn, { onError }));
  const demoRoutes = toNode(createDemoHandler(settings, signIn, pages), {
    maxBodyBytes: MAX_BODY_BYTES,
    onError,
  });
  return (request, response) => signInRoutes(request, response, () => demoRoutes(request, response));
}

function createDemoHandler(settings: DemoSettings, signIn: SignIn, pages: Pages) {
  const config = configFor(settings);
  const partner = partnerClient(settings);
  return async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url);
    if (pathname === '/config.json') return orUnavailable(async () => uncached(await config()));
    // Lists the offers for visitors without a session. Reads the offers with the partner's credentials, so the list
    // contains no user data.
    if (pathname === '/offers.json')
      return orUnavailable(async () =>
        uncached(await partner.offers.list({ limit: 12, include: 'summary' })),
      );
    if (pathname.startsWith('/sandbox/')) return handleSandbox(settings, signIn, request, pathname);
    if (request.method !== 'GET') return errorReply(405, 'method_not_allowed');
    return pages.respond(request, policyFor(settings, await config().catch(() => null)));
  };
}

async function handleSandbox(settings: DemoSettings, signIn: SignIn, request: Request, pathname: string) {
  if (!settings.isSandbox) return errorReply(404, 'not_found');
  if (request.headers.get('sec-fetch-site') !== 'same-origin') return errorReply(403, 'cross_site_request');
  const email = (await signIn.store.load(request))?.user?.email;
  if (pathname === '/sandbox/mail') return forwardMail(settings, email);
  return (await forwardControl(settings, pathname, request, email)) ?? errorReply(404, 'not_found');
}

async function orUnavailable(respond: () => Promise<Response>): Promise<Response> {
  try {
    return await respond();
  } catch {
    return errorReply(503, 'upstream_unavailable');
  }
}

const uncached = (body: object) => Response.json(body, { headers: { 'cache-control': 'no-store' } });

function errorReply(status: number, code: string): Response {
  return Response.json({ type: 'api_error', code }, { status, headers: { 'cache-control': 'no-store' } });
}
