import type { RequestListener } from 'node:http';
import { createHandler, createSignIn, partnerClient, type SignIn, toNode } from '@causeway/sdk/server';
import { configFor, policyFor } from './config.ts';
import { answerWeb } from './node.ts';
import type { Pages } from './pages.ts';
import { passControl, readMails } from './sandbox.ts';
import type { DemoSettings } from './settings.ts';

/** The whole app: the SDK's paths for signing in, a few of its own, and the page for everything else. */
export function createApp(settings: DemoSettings, origin: string, pages: Pages): RequestListener {
  const { baseUrl, clientId, clientSecret } = settings;
  const signIn = createSignIn({
    baseUrl,
    clientId,
    clientSecret,
    redirectUri: `${origin}/callback`,
    cookieSecret: settings.sessionSecrets,
  });
  const onError = (error: unknown) => console.error('Harbour Invest:', error);
  const causeway = toNode(createHandler(signIn, { onError }));
  const answer = createAnswer(settings, signIn, pages);
  return (request, response) =>
    causeway(request, response, () => answerWeb(request, response, origin, answer, onError));
}

function createAnswer(settings: DemoSettings, signIn: SignIn, pages: Pages) {
  const config = configFor(settings);
  const partner = partnerClient(settings);
  return async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url);
    if (pathname === '/config.json') return unlessAway(async () => fresh(await config()));
    // What visitors see before they sign in: the partner's own view, which holds nothing of a user.
    if (pathname === '/offers.json')
      return unlessAway(async () => fresh(await partner.offers.list({ limit: 12 })));
    if (pathname.startsWith('/sandbox/')) return answerSandbox(settings, signIn, request, pathname);
    if (request.method !== 'GET' && request.method !== 'HEAD') return refuse(405, 'method_not_allowed');
    return pages.answer(request, policyFor(settings, await config().catch(() => null)));
  };
}

async function answerSandbox(settings: DemoSettings, signIn: SignIn, request: Request, pathname: string) {
  if (!settings.isSandbox) return refuse(404, 'not_found');
  if (request.headers.get('sec-fetch-site') !== 'same-origin') return refuse(403, 'cross_site_request');
  if (pathname === '/sandbox/mail')
    return readMails(settings, (await signIn.store.load(request))?.user?.email);
  return (await passControl(settings, pathname, request)) ?? refuse(404, 'not_found');
}

async function unlessAway(answer: () => Promise<Response>): Promise<Response> {
  try {
    return await answer();
  } catch {
    return refuse(503, 'upstream_unavailable');
  }
}

/** Not for caches. */
const fresh = (body: object) => Response.json(body, { headers: { 'cache-control': 'no-store' } });

function refuse(status: number, code: string): Response {
  return Response.json({ type: 'api_error', code }, { status, headers: { 'cache-control': 'no-store' } });
}
