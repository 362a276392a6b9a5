import type { FastifyInstance } from 'fastify';
import { ApiError } from '../../kernel/errors.ts';
import { newSecret } from '../../kernel/secret-hash.ts';
import type { Context } from '../../platform/context/context.ts';
import type { RegisteredClient } from '../../platform/context/ports.ts';
import { toApiError } from '../../platform/http/failure.ts';
import { acceptsHtml } from '../../platform/http/replies.ts';
import { pluginHooks } from '../../platform/http/request-log.ts';
import { pageHeaders } from '../../platform/pages/headers.ts';
import { errorPage } from '../../platform/pages/message-page.ts';
import { logoutPage, signedOutPage } from '../../platform/pages/sign-in-page.ts';
import { isPostLogoutRedirect } from '../oauth/client.ts';
import type { Browser } from './browser.ts';
import { addPageRoute, type PageHandler, type PageResponse, sendPage } from './page-route.ts';
import { deleteSession } from './session-store.ts';

type Logout = {
  client: RegisteredClient | null;
  redirectUri: string | null;
  state: string | null;
  /** The user whom the app signed in, according to the ID token that the app sent. */
  userId: string | null;
};

/**
 * Signs the user out at the request of an app (OpenID Connect RP-Initiated Logout 1.0). Asks the user first, because
 * any site can link here. Does not ask if the app sends an ID token for the user who is signed in.
 */
const showLogout: PageHandler = async (ctx, browser, { query }) => {
  const logout = await readLogout(ctx, query);
  const { session, csrf } = browser;
  if (session === null) return leave(logout);
  if (logout.userId === session.user.id) return signOut(ctx, browser, logout);
  const { client, redirectUri, state } = logout;
  const page = logoutPage({
    csrf,
    app: client?.name ?? null,
    email: session.user.email,
    clientId: client?.client_id ?? null,
    redirectUri,
    state,
  });
  return { page, formTargets: redirectUri === null ? [] : [redirectUri] };
};

const confirmLogout: PageHandler = async (ctx, browser, { form }) => {
  return signOut(ctx, browser, await readLogout(ctx, form));
};

async function signOut(ctx: Context, { cookie }: Browser, logout: Logout): Promise<PageResponse> {
  await deleteSession(ctx.db, cookie);
  return { cookie: newSecret(ctx.random), ...leave(logout) };
}

function leave({ redirectUri, state }: Logout): PageResponse {
  if (redirectUri === null) return { page: signedOutPage() };
  if (state === null) return { redirect: redirectUri };
  const separator = redirectUri.includes('?') ? '&' : '?';
  return { redirect: `${redirectUri}${separator}${new URLSearchParams({ state })}` };
}

/**
 * Validates the parameters. Throws `malformed_request` if one of them is invalid, because an invalid request must
 * neither sign the user out nor redirect the browser.
 */
async function readLogout(ctx: Context, input: Record<string, unknown>): Promise<Logout> {
  const idToken = readParameter(input, 'id_token_hint');
  const clientId = readParameter(input, 'client_id');
  const redirectUri = readParameter(input, 'post_logout_redirect_uri');
  const hint = idToken === null ? null : await ctx.oauth.verifyIdTokenHint(idToken);
  if (idToken !== null && hint === null)
    throw refuse('The id_token_hint is not an ID token from this service.');
  if (hint !== null && clientId !== null && hint.clientId !== clientId)
    throw refuse('The id_token_hint was issued to a different client_id.');
  const requested = hint?.clientId ?? clientId;
  const client = requested === null ? null : ((await ctx.oauth.findClient(requested)) ?? null);
  if (requested !== null && client === null) throw refuse('The client_id is not registered.');
  if (redirectUri !== null && (client === null || !isPostLogoutRedirect(client, redirectUri)))
    throw refuse(
      client === null
        ? 'A post_logout_redirect_uri requires an id_token_hint or a client_id.'
        : 'The post_logout_redirect_uri is not registered for this client.',
    );
  return { client, redirectUri, state: readParameter(input, 'state'), userId: hint?.userId ?? null };
}

/** An empty parameter counts as absent (RFC 6749 §3.1). Throws if a parameter occurs more than once. */
function readParameter(input: Record<string, unknown>, name: string): string | null {
  const value = input[name];
  if (value === undefined || value === '') return null;
  if (typeof value !== 'string') throw refuse(`${name} was sent more than once. Send it only once.`);
  return value;
}

function refuse(message: string): ApiError {
  return new ApiError('malformed_request', {}, { message });
}

const PATH = '/oauth/logout';

/** Adds the end-session endpoint. Browsers get client errors as a page; all other errors are error objects. */
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

/** The GET route validates the values. */
function textMembers(body: unknown): [string, string][] {
  return Object.entries(body ?? {}).filter(
    (member): member is [string, string] => typeof member[1] === 'string',
  );
}
