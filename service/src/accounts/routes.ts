import type { FastifyInstance } from 'fastify';
import type { Context } from '../context.ts';
import { toApiError } from '../http/failure.ts';
import { TOPICS } from '../notices/notice.ts';
import { serveAssets } from '../pages/assets.ts';
import { errorPage } from '../pages/message-page.ts';
import { disconnectApp, removePasskey, saveEmailSettings, showAccount } from './account-forms.ts';
import { readCookie } from './cookie.ts';
import { decideInteraction, showInteraction } from './interaction.ts';
import { addLogoutRoutes } from './logout-routes.ts';
import { addPageRoute, type PageHandler, sendPage } from './page-route.ts';
import { addPasskeyRoutes } from './passkey-routes.ts';
import { postForgot, postReset, showForgot, showReset } from './password-forms.ts';
import { postConfirm, postRegister, showConfirm, showRegister } from './register-forms.ts';
import { readSession } from './sessions.ts';
import { postSignIn, postSignOut, showSignIn } from './sign-in-forms.ts';
import { addUnsubscribeRoutes } from './unsubscribe-routes.ts';

/** The hosted pages: sign-in, registration, consent and the user's account. */
export function accountsPlugin(ctx: Context) {
  ctx.oauth.hooks.signedInUser = async (cookies) => {
    const cookie = readCookie(ctx, { headers: { cookie: cookies } });
    return cookie === null ? null : ((await readSession(ctx, cookie))?.user.id ?? null);
  };
  return async (app: FastifyInstance): Promise<void> => {
    serveAssets(app);
    await app.register(async (scope) => addPasskeyRoutes(scope, ctx));
    await app.register(async (scope) => addLogoutRoutes(scope, ctx));
    await app.register(async (scope) => addUnsubscribeRoutes(scope, ctx));
    await app.register(async (scope) => addPages(scope, ctx));
  };
}

function addPages(app: FastifyInstance, ctx: Context): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    done();
  });
  app.setErrorHandler((thrown, request, reply) => {
    const error = toApiError(thrown);
    if (error.status >= 500)
      ctx.log.error({ err: error.cause ?? error, request_id: request.id, code: error.code }, 'page failed');
    reply.headers(error.headers);
    return sendPage(reply, errorPage(error, request.id), error.status);
  });

  const get = (path: string, handle: PageHandler) => addPageRoute(app, ctx, { method: 'GET', path, handle });
  const post = (path: string, fields: readonly string[], handle: PageHandler) =>
    addPageRoute(app, ctx, { method: 'POST', path, fields, handle });

  get('/sign-in', showSignIn);
  post('/sign-in', ['email', 'password', 'next'], postSignIn);
  post('/sign-out', ['next'], postSignOut);

  get('/register', showRegister);
  post('/register', ['email', 'password', 'kind', 'next'], postRegister);
  get('/confirm', showConfirm);
  post('/confirm', ['token', 'password'], postConfirm);

  get('/forgot', showForgot);
  post('/forgot', ['email'], postForgot);
  get('/reset', showReset);
  post('/reset', ['token', 'password', 'remove_passkeys'], postReset);

  get('/interaction/:uid', showInteraction);
  post('/interaction/:uid', ['decision'], decideInteraction);

  get('/account', showAccount);
  post('/account/disconnect', ['client_id'], disconnectApp);
  post('/account/passkeys/remove', ['id'], removePasskey);
  post('/account/emails', [...TOPICS, 'locale'], saveEmailSettings);
}
