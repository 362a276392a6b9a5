import type { FastifyInstance } from 'fastify';
import type { Context } from '../../platform/context/context.ts';
import { toApiError } from '../../platform/http/failure.ts';
import { acceptsHtml } from '../../platform/http/replies.ts';
import { pluginHooks } from '../../platform/http/request-log.ts';
import { pageHeaders } from '../../platform/pages/headers.ts';
import { errorPage } from '../../platform/pages/message-page.ts';
import { confirmLogout, showLogout } from './logout.ts';
import { addPageRoute, sendPage } from './page-route.ts';

const PATH = '/oauth/logout';

/**
 * Adds the end-session endpoint. Requests that accept HTML get client errors (4xx) as a page. All other errors are sent
 * as an error object.
 */
export function addLogoutRoutes(app: FastifyInstance, ctx: Context): void {
  app.setErrorHandler((thrown, request, reply) => {
    const error = toApiError(thrown);
    // Passes the error to the server's default handler, which logs it and replies with the error object.
    if (!acceptsHtml(request) || error.status >= 500) throw thrown;
    reply.headers(error.headers);
    return sendPage(reply, errorPage(error, request.id), error.status);
  });
  addPageRoute(app, ctx, { method: 'GET', path: PATH, handle: showLogout });
  addPageRoute(app, ctx, {
    method: 'POST',
    path: `${PATH}/confirm`,
    fields: ['client_id', 'post_logout_redirect_uri', 'state'],
    handle: confirmLogout,
  });
  // Apps may also send the request as a POST. This route redirects to the GET route, because browsers do not send our
  // cookie with a POST from another site.
  app.post(
    PATH,
    { config: { access: { who: 'public' }, forms: true }, ...pluginHooks(ctx, 'POST', PATH) },
    (request, reply) =>
      reply
        .headers(pageHeaders())
        .code(303)
        .header('location', `${PATH}?${new URLSearchParams(textMembers(request.body))}`)
        .send(),
  );
}

/** Returns the string fields of the body. The GET route validates their values. */
function textMembers(body: unknown): [string, string][] {
  return Object.entries(body ?? {}).filter(
    (member): member is [string, string] => typeof member[1] === 'string',
  );
}
