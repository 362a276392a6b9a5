import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../../platform/context/context.ts';
import type { UnknownPage } from '../../platform/http/server.ts';
import { pageHeaders } from '../../platform/pages/headers.ts';
import { landingPage, type SandboxLanding } from '../../platform/pages/landing-page.ts';
import { type Page, renderPage } from '../../platform/pages/layout.ts';
import { messagePage } from '../../platform/pages/message-page.ts';

/** Paths that programs call. An unknown path under one of these gets a JSON error, even in a browser. */
const API_PATH = /^\/(v1|oauth|webhooks)(\/|$)/;

/** Shows browsers the landing page at `/`, and a "not found" page at unknown addresses. */
export function browserPages(
  { baseUrl, securityHeaders }: Context,
  sandbox: SandboxLanding | null,
): UnknownPage {
  const landing = landingPage(baseUrl, sandbox);
  const send = (request: FastifyRequest, reply: FastifyReply, page: Page, status: number): true => {
    void reply
      .code(status)
      .headers({ ...securityHeaders, ...pageHeaders(), vary: 'Accept', 'x-request-id': request.id })
      .type('text/html; charset=utf-8')
      .send(renderPage(page));
    return true;
  };
  return (request, reply) => {
    const path = request.url.split('?', 1)[0] ?? '';
    if (path === '/') return send(request, reply, landing, 200);
    if (API_PATH.test(path)) return false;
    const page = messagePage({
      title: 'Page not found',
      text: 'There is no page at this address. Check it for typos.',
      action: { label: 'Go to the start page', href: '/' },
    });
    return send(request, reply, page, 404);
  };
}
