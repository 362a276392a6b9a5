import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../../kernel/errors.ts';
import type { Context } from '../../platform/context/context.ts';
import { logFailure, toApiError } from '../../platform/http/failure.ts';
import { forNetwork, forRequest } from '../../platform/http/for-request.ts';
import { clientNetwork } from '../../platform/http/network.ts';
import { pluginHooks } from '../../platform/http/request-log.ts';
import { visitedUrl } from '../../platform/http/visited-url.ts';
import { type PageSources, pageHeaders } from '../../platform/pages/headers.ts';
import { type Page, renderPage } from '../../platform/pages/layout.ts';
import { errorPage } from '../../platform/pages/message-page.ts';
import { type Browser, checkCsrf, identifyBrowser, setCookie } from './browser.ts';
import type { Session } from './session-store.ts';
import { throttleNetwork } from './throttle.ts';

export type PageRequest = {
  query: Record<string, unknown>;
  form: Record<string, string>;
  request: FastifyRequest;
};

/** A page, a redirect or a file; `cookie` replaces the browser's cookie. */
export type PageResponse = { cookie?: string } & (
  | { redirect: string }
  | { download: { name: string; json: object } }
  | ({ page: Page; status?: number } & PageSources)
);

export type PageHandler = (
  ctx: Context,
  browser: Browser,
  request: PageRequest,
) => Promise<PageResponse> | PageResponse;

type PageRoute = {
  method: 'GET' | 'POST';
  path: string;
  fields?: readonly string[];
  handle: PageHandler;
};

/** Registers a page or a form. Forms are rate limited and checked for CSRF. */
export function addPageRoute(
  app: FastifyInstance,
  ctx: Context,
  { method, path, fields = [], handle }: PageRoute,
): void {
  app.route({
    method,
    url: path,
    config: { access: { who: 'public' }, ...(method === 'POST' && { forms: true as const }) },
    ...pluginHooks(ctx, method, path),
    handler: async (request, reply) => {
      const own = { ...forNetwork(ctx, request), baseUrl: visitedUrl(ctx, request) };
      if (method === 'POST') await throttleNetwork(own, request);
      const browser = await identifyBrowser(own, request, reply);
      const query = request.query as Record<string, unknown>;
      const form = method === 'POST' ? readForm(request.body, fields) : {};
      if (method === 'POST') checkCsrf(own, request, browser, form.csrf);
      const response = await ctx.oauth.within({ id: request.id, lane: clientNetwork(request) }, () =>
        handle(forVisitor(own, request, browser), browser, { query, form, request }),
      );
      return sendResponse(ctx, reply, response);
    },
  });
}

function forVisitor(ctx: Context, { id }: FastifyRequest, { session }: Browser): Context {
  const own = forRequest(ctx, { id });
  if (session === null) return own;
  return { ...own, db: ctx.taggedDb({ requestId: id, actor: { object: 'user', id: session.user.id } }) };
}

function readForm(body: unknown, fields: readonly string[]): Record<string, string> {
  const entries = Object.entries((body ?? {}) as Record<string, unknown>);
  const unknown = entries.filter(
    ([name, value]) => (name !== 'csrf' && !fields.includes(name)) || typeof value !== 'string',
  );
  if (unknown.length === 0) return Object.fromEntries(entries) as Record<string, string>;
  const problems = Object.fromEntries(unknown.map(([name]) => [name, ['is not a known field']]));
  throw new ApiError('validation_failed', problems);
}

function sendResponse(ctx: Context, reply: FastifyReply, response: PageResponse): FastifyReply {
  if (response.cookie !== undefined) setCookie(ctx, reply, response.cookie);
  if ('redirect' in response)
    return reply.headers(pageHeaders()).code(303).header('location', response.redirect).send();
  if ('download' in response) {
    const { name, json } = response.download;
    return reply
      .headers(pageHeaders())
      .header('content-disposition', `attachment; filename="${name}"`)
      .type('application/json; charset=utf-8')
      .send(`${JSON.stringify(json, null, 2)}\n`);
  }
  return sendPage(reply, response.page, response.status ?? 200, response);
}

export function preparePages(app: FastifyInstance, ctx: Context): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    done();
  });
  app.setErrorHandler((thrown, request, reply) => {
    const error = toApiError(thrown);
    logFailure(ctx, error, request);
    reply.headers(error.headers);
    return sendPage(reply, errorPage(error, request.id), error.status);
  });
}

export function sendPage(
  reply: FastifyReply,
  page: Page,
  status: number,
  { formTargets = [], images = [] }: PageSources = {},
): FastifyReply {
  return reply
    .headers(pageHeaders({ formTargets, images, scripts: page.passkeys === true || page.submits === true }))
    .code(status)
    .type('text/html; charset=utf-8')
    .send(renderPage(page));
}

type Handle = (
  ctx: Context,
  browser: Browser,
  request: PageRequest,
  session: Session,
) => Promise<PageResponse> | PageResponse;

const SIGN_IN: PageResponse = { redirect: '/sign-in' };

/** Wraps a page for signed-in users. Everyone else is redirected to sign in, also if the session ends meanwhile. */
export function withSession(handle: Handle): PageHandler {
  return async (ctx, browser, request) => {
    if (browser.session === null) return SIGN_IN;
    try {
      return await handle(ctx, browser, request, browser.session);
    } catch (error) {
      if (error instanceof ApiError && error.code === 'unauthorized') return SIGN_IN;
      throw error;
    }
  };
}

/**
 * Wraps a page for users who signed in within the last few minutes. Other users must sign in again, and are then sent
 * back to `path`. Without this check, a browser that was left signed in would be enough to take over the account.
 */
export function withRecentSession(path: string, handle: Handle): PageHandler {
  const next = path === '/account' ? '' : `&next=${encodeURIComponent(path)}`;
  return withSession((ctx, browser, request, session) =>
    session.isRecent ? handle(ctx, browser, request, session) : { redirect: `/sign-in?again=yes${next}` },
  );
}
