import type { FastifyInstance } from 'fastify';
import type { Context } from '../context.ts';
import { toApiError } from '../http/failure.ts';
import { serveAssets } from '../pages/assets.ts';
import { errorPage } from '../pages/message-page.ts';
import { disconnectApp, removePasskey, showAccount } from './account.ts';
import { decideInteraction, showInteraction } from './interaction.ts';
import { addPage, sendPage } from './page-route.ts';
import { addPasskeyRoutes } from './passkey-routes.ts';
import { postForgot, postReset, showForgot, showReset } from './password-forms.ts';
import { postConfirm, postRegister, showConfirm, showRegister } from './register-forms.ts';
import { readSession } from './sessions.ts';
import { postSignIn, postSignOut, showSignIn } from './sign-in-forms.ts';
import { readCookie } from './visit.ts';

/** The hosted pages: everything a user does here in a browser. */
export function accountsPlugin(ctx: Context) {
  // The authorization server asks the pages who is signed in, so that signing out here ends it there.
  ctx.oauth.hooks.signedInUser = async (cookie) => {
    const secret = readCookie(ctx, { headers: { cookie } });
    return secret === null ? null : ((await readSession(ctx, secret))?.user.id ?? null);
  };
  return async (app: FastifyInstance): Promise<void> => {
    serveAssets(app);
    await app.register(async (scope) => addPasskeyRoutes(scope, ctx));
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
      ctx.log.error({ err: error.cause ?? error, request_id: request.id, code: error.code }, 'a page failed');
    reply.headers(error.headers);
    return sendPage(reply, errorPage(error, request.id), error.status);
  });

  addPage(app, ctx, {
    method: 'GET',
    path: '/sign-in',
    handle: (visit, input) => showSignIn(ctx, visit, input),
  });
  addPage(app, ctx, {
    method: 'POST',
    path: '/sign-in',
    fields: ['email', 'password', 'next'],
    handle: (visit, input) => postSignIn(ctx, visit, input),
  });
  addPage(app, ctx, {
    method: 'POST',
    path: '/sign-out',
    fields: ['next'],
    handle: (visit, input) => postSignOut(ctx, visit, input),
  });

  addPage(app, ctx, {
    method: 'GET',
    path: '/register',
    handle: (visit, input) => showRegister(ctx, visit, input),
  });
  addPage(app, ctx, {
    method: 'POST',
    path: '/register',
    fields: ['email', 'password', 'kind', 'next'],
    handle: (visit, input) => postRegister(ctx, visit, input),
  });
  addPage(app, ctx, {
    method: 'GET',
    path: '/confirm',
    handle: (visit, input) => showConfirm(ctx, visit, input),
  });
  addPage(app, ctx, {
    method: 'POST',
    path: '/confirm',
    fields: ['token', 'password'],
    handle: (visit, input) => postConfirm(ctx, visit, input),
  });

  addPage(app, ctx, { method: 'GET', path: '/forgot', handle: (visit, input) => showForgot(visit, input) });
  addPage(app, ctx, {
    method: 'POST',
    path: '/forgot',
    fields: ['email'],
    handle: (visit, input) => postForgot(ctx, visit, input),
  });
  addPage(app, ctx, {
    method: 'GET',
    path: '/reset',
    handle: (visit, input) => showReset(ctx, visit, input),
  });
  addPage(app, ctx, {
    method: 'POST',
    path: '/reset',
    fields: ['token', 'password'],
    handle: (visit, input) => postReset(ctx, visit, input),
  });

  addPage(app, ctx, {
    method: 'GET',
    path: '/interaction/:uid',
    handle: (visit, input) => showInteraction(ctx, visit, input),
  });
  addPage(app, ctx, {
    method: 'POST',
    path: '/interaction/:uid',
    fields: ['decision'],
    handle: (visit, input) => decideInteraction(ctx, visit, input),
  });

  addPage(app, ctx, {
    method: 'GET',
    path: '/account',
    handle: (visit, input) => showAccount(ctx, visit, input),
  });
  addPage(app, ctx, {
    method: 'POST',
    path: '/account/disconnect',
    fields: ['client_id'],
    handle: (visit, input) => disconnectApp(ctx, visit, input),
  });
  addPage(app, ctx, {
    method: 'POST',
    path: '/account/passkeys/remove',
    fields: ['id'],
    handle: (visit, input) => removePasskey(ctx, visit, input),
  });
}
