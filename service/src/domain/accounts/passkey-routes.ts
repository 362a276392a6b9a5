import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { ApiError } from '../../kernel/errors.ts';
import { Closed } from '../../kernel/wire.ts';
import type { Context } from '../../platform/context/context.ts';
import { forNetwork, forRequest } from '../../platform/http/for-request.ts';
import { pluginHooks } from '../../platform/http/request-log.ts';
import { visitedUrl } from '../../platform/http/visited-url.ts';
import { pageHeaders } from '../../platform/pages/headers.ts';
import { type Browser, identifyBrowser } from './browser.ts';
import { setCookie } from './cookie.ts';
import { checkCsrf } from './csrf.ts';
import { addPasskey, addPasskeyOptions, signInOptions, signInWithPasskey } from './passkeys.ts';
import { parseReturnPath } from './return-path.ts';
import type { Session } from './sessions.ts';
import { throttleNetwork } from './throttle.ts';

const OptionsRequest = Closed({ csrf: Type.String({ maxLength: 100 }) });
const CredentialRequest = Closed({
  csrf: Type.String({ maxLength: 100 }),
  next: Type.Optional(Type.String({ maxLength: 200 })),
  response: Type.Object({}, { additionalProperties: true }),
});

type Body = { csrf: string; next?: string; response?: unknown };
type Handle = (ctx: Context, browser: Browser, body: Body, reply: FastifyReply) => Promise<object>;

/** Registers the routes that `passkeys.js` calls: the options and the result of each WebAuthn ceremony. */
export function addPasskeyRoutes(app: FastifyInstance, ctx: Context): void {
  const post = (path: string, schema: typeof OptionsRequest | typeof CredentialRequest, handle: Handle) =>
    app.route({
      method: 'POST',
      url: path,
      config: { access: { who: 'public' } },
      schema: { body: schema },
      ...pluginHooks(ctx, 'POST', path),
      handler: (request, reply) => handleCall(ctx, request, reply, handle),
    });

  post('/passkeys/sign-in/options', OptionsRequest, (ctx, { cookie }) => signInOptions(ctx, cookie));
  post('/passkeys/sign-in', CredentialRequest, async (ctx, browser, { response, next }, reply) => {
    const newCookie = await signInWithPasskey(ctx, browser, response);
    if (newCookie === null) throw new ApiError('passkey_refused');
    setCookie(ctx, reply, newCookie);
    return { location: parseReturnPath(next) ?? '/account' };
  });
  post('/account/passkeys/options', OptionsRequest, (ctx, { cookie, session }) =>
    addPasskeyOptions(ctx, cookie, requireRecentSession(session).user),
  );
  post('/account/passkeys', CredentialRequest, async (ctx, { cookie, session }, { response }) => {
    if (!(await addPasskey(ctx, cookie, requireRecentSession(session), response)))
      throw new ApiError('passkey_refused');
    return { location: '/account?notice=passkey_added' };
  });
}

async function handleCall(
  ctx: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  handle: Handle,
): Promise<object> {
  reply.headers(pageHeaders()).header('x-request-id', request.id);
  const own = { ...forNetwork(ctx, request), baseUrl: visitedUrl(ctx, request) };
  await throttleNetwork(own, request);
  const browser = await identifyBrowser(own, request, reply);
  const body = request.body as Body;
  checkCsrf(own, request, browser, body.csrf);
  return handle(forRequest(own, { id: request.id }), browser, body, reply);
}

/**
 * Throws unless the user signed in recently, so that nobody can add a passkey in a browser that was left signed in.
 */
function requireRecentSession(session: Browser['session']): Session {
  if (session === null) throw new ApiError('unauthorized');
  if (!session.isRecent) throw new ApiError('recent_sign_in_required');
  return session;
}
