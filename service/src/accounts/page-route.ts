import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import { pluginHooks } from '../http/request-log.ts';
import { pageHeaders } from '../pages/headers.ts';
import { type Page, renderPage } from '../pages/layout.ts';
import { takeFromAddress } from './throttle.ts';
import { checkForgery, openVisit, setCookie, type Visit } from './visit.ts';

export type PageInput = {
  query: Record<string, unknown>;
  form: Record<string, string>;
  request: FastifyRequest;
  reply: FastifyReply;
};

export type Answer = { cookie?: string } & (
  | { redirect: string }
  | {
      page: Page;
      status?: number;
      /** Where the answer to the form may redirect to, beside ourselves. */
      leadsTo?: readonly string[];
      /** Pictures of partners on the page. */
      images?: readonly (string | null)[];
    }
);

type PageRoute = {
  method: 'GET' | 'POST';
  path: string;
  /** All that a form may send; anything else is refused. */
  fields?: readonly string[];
  handle(visit: Visit, input: PageInput): Promise<Answer> | Answer;
};

/** Registers a page or the form on one: throttled, safe from forgery, and with the headers of a page. */
export function addPage(
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
      if (method === 'POST') await takeFromAddress(ctx, request.ip);
      const visit = await openVisit(ctx, request, reply);
      const query = request.query as Record<string, unknown>;
      const form = method === 'POST' ? readForm(request.body, fields) : {};
      if (method === 'POST') checkForgery(ctx, request, visit, form.csrf);
      return sendAnswer(ctx, reply, await handle(visit, { query, form, request, reply }));
    },
  });
}

function readForm(body: unknown, fields: readonly string[]): Record<string, string> {
  const sent = Object.entries((body ?? {}) as Record<string, unknown>);
  const unknown = sent.filter(
    ([name, value]) => (name !== 'csrf' && !fields.includes(name)) || typeof value !== 'string',
  );
  if (unknown.length === 0) return Object.fromEntries(sent) as Record<string, string>;
  const problems = Object.fromEntries(unknown.map(([name]) => [name, ['is not a known field']]));
  throw new ApiError('validation_failed', problems);
}

function sendAnswer(ctx: Context, reply: FastifyReply, answer: Answer): FastifyReply {
  if (answer.cookie !== undefined) setCookie(ctx, reply, answer.cookie);
  if ('redirect' in answer)
    return reply.headers(pageHeaders()).code(303).header('location', answer.redirect).send();
  return sendPage(reply, answer.page, answer.status ?? 200, answer);
}

export function sendPage(
  reply: FastifyReply,
  page: Page,
  status: number,
  also: { leadsTo?: readonly string[]; images?: readonly (string | null)[] } = {},
): FastifyReply {
  return reply
    .headers(pageHeaders({ ...also, scripts: page.passkeys === true }))
    .code(status)
    .type('text/html; charset=utf-8')
    .send(renderPage(page));
}
