import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import { pluginHooks } from '../http/request-log.ts';
import { Closed } from '../http/wire.ts';
import { pageHeaders } from '../pages/headers.ts';
import { addPasskey, challengePasskey, offerPasskey, signInWithPasskey } from './passkeys.ts';
import { readNext } from './return-path.ts';
import type { User } from './store.ts';
import { takeFromAddress } from './throttle.ts';
import { checkForgery, openVisit, setCookie, type Visit } from './visit.ts';

const Ask = Closed({ csrf: Type.String({ maxLength: 100 }) });
const Answer = Closed({
  csrf: Type.String({ maxLength: 100 }),
  next: Type.Optional(Type.String({ maxLength: 200 })),
  response: Type.Object({}, { additionalProperties: true }),
});

type Body = { csrf: string; next?: string; response?: unknown };
type Handle = (visit: Visit, body: Body, reply: FastifyReply) => Promise<object>;

/** What the script of the pages calls: the two halves of making a passkey and of signing in with one. */
export function addPasskeyRoutes(app: FastifyInstance, ctx: Context): void {
  const add = (path: string, schema: typeof Ask | typeof Answer, handle: Handle) =>
    app.route({
      method: 'POST',
      url: path,
      config: { access: { who: 'public' } },
      schema: { body: schema },
      ...pluginHooks(ctx, 'POST', path),
      handler: (request, reply) => answer(ctx, request, reply, handle),
    });

  add('/passkeys/sign-in/options', Ask, ({ browser }) => challengePasskey(ctx, browser));
  add('/passkeys/sign-in', Answer, async ({ browser }, { response, next }, reply) => {
    const cookie = await signInWithPasskey(ctx, browser, response);
    if (cookie === null) throw new ApiError('passkey_refused');
    setCookie(ctx, reply, cookie);
    return { location: readNext(next) ?? '/account' };
  });
  add('/account/passkeys/options', Ask, ({ browser, session }) =>
    offerPasskey(ctx, browser, userOf(session)),
  );
  add('/account/passkeys', Answer, async ({ browser, session }, { response }) => {
    if (!(await addPasskey(ctx, browser, userOf(session), response))) throw new ApiError('passkey_refused');
    return { location: '/account?notice=passkey_added' };
  });
}

async function answer(
  ctx: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  handle: Handle,
): Promise<object> {
  reply.headers(pageHeaders()).header('x-request-id', request.id);
  await takeFromAddress(ctx, request.ip);
  const visit = await openVisit(ctx, request, reply);
  const body = request.body as Body;
  checkForgery(ctx, request, visit, body.csrf);
  return handle(visit, body, reply);
}

function userOf(session: Visit['session']): User {
  if (session === null) throw new ApiError('unauthorized');
  return session.user;
}
