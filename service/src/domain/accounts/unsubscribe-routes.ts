import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../../platform/context/context.ts';
import { pluginHooks } from '../../platform/http/request-log.ts';
import { messagePage, unsubscribedPage, unsubscribePage } from '../../platform/pages/message-page.ts';
import { readUnsubscribeToken, type Subscription, unsubscribe } from '../notices/preferences.ts';
import { sendPage } from './page-route.ts';
import { throttleNetwork } from './throttle.ts';

const PATH = '/unsubscribe';
const UNKNOWN = messagePage({
  title: 'This link doesn’t work',
  text: 'Copy the whole link from the email, or change your email settings in your account.',
  action: { label: 'Your account', href: '/account' },
});

/**
 * Adds the routes for the unsubscribe links in emails. Each link turns off one topic. The token in the link is the only
 * authorization. There is no CSRF token, because mail programs post without cookies (RFC 8058).
 */
export function addUnsubscribeRoutes(app: FastifyInstance, ctx: Context): void {
  type Handle = (token: string, found: Subscription, reply: FastifyReply) => Promise<FastifyReply>;
  const answer = (handle: Handle) => async (request: FastifyRequest, reply: FastifyReply) => {
    await throttleNetwork(ctx, request);
    const token = String((request.query as { token?: unknown }).token ?? '');
    const found = await readUnsubscribeToken(ctx, token);
    return found === null ? sendPage(reply, UNKNOWN, 404) : handle(token, found, reply);
  };
  const config = { access: { who: 'public' as const }, forms: true as const };
  app.get(
    PATH,
    { config: { access: { who: 'public' } }, ...pluginHooks(ctx, 'GET', PATH) },
    answer(async (token, { topic }, reply) => sendPage(reply, unsubscribePage(token, topic), 200)),
  );
  app.post(
    PATH,
    { config, ...pluginHooks(ctx, 'POST', PATH) },
    answer(async (_token, found, reply) => {
      await unsubscribe(ctx, found);
      return sendPage(reply, unsubscribedPage(found.topic), 200);
    }),
  );
}
