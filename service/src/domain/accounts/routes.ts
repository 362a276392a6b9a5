import type { FastifyInstance } from 'fastify';
import type { Context } from '../../platform/context/context.ts';
import { serveAssets } from '../../platform/pages/assets.ts';
import { TOPICS } from '../notices/notice.ts';
import {
  disconnectApp,
  endAllSessions,
  endOneSession,
  removePasskey,
  saveEmailSettings,
  showAccount,
} from './account-forms.ts';
import { readCookie } from './browser.ts';
import { confirmNewEmail, postEmail, showEmail, showNewEmail } from './change-email.ts';
import {
  postForgot,
  postPassword,
  postReset,
  showForgot,
  showPassword,
  showReset,
} from './change-password.ts';
import { canStepUp, decideInteraction, showInteraction, signInOf } from './interaction.ts';
import { addLogoutRoutes } from './logout.ts';
import { addPageRoute, type PageHandler, preparePages } from './page-route.ts';
import { addPasskeyRoutes } from './passkeys.ts';
import { postConfirm, postRegister, showConfirm, showRegister } from './registration.ts';
import { postSecondFactor, removeFactor, showSecondFactor } from './second-factor.ts';
import { findSession } from './session-store.ts';
import { postCode, postSignIn, postSignOut, showCode, showSignIn } from './sign-in.ts';
import { addUnsubscribeRoutes } from './unsubscribe-routes.ts';

/** The hosted pages: sign-in, registration, consent and the user's account. */
export function accountsPlugin(ctx: Context) {
  ctx.oauth.hooks.signIn = async (cookies) => {
    const cookie = readCookie(ctx, { headers: { cookie: cookies } });
    const session = cookie === null ? null : await findSession(ctx.db, cookie);
    return session === null ? null : signInOf(session);
  };
  ctx.oauth.hooks.canStepUp = (userId, values) => canStepUp(ctx, userId, values);
  return async (app: FastifyInstance): Promise<void> => {
    serveAssets(app);
    await app.register(async (scope) => addPasskeyRoutes(scope, ctx));
    await app.register(async (scope) => addLogoutRoutes(scope, ctx));
    await app.register(async (scope) => addUnsubscribeRoutes(scope, ctx));
    await app.register(async (scope) => addPages(scope, ctx));
  };
}

function addPages(app: FastifyInstance, ctx: Context): void {
  preparePages(app, ctx);
  const get = (path: string, handle: PageHandler) => addPageRoute(app, ctx, { method: 'GET', path, handle });
  const post = (path: string, fields: readonly string[], handle: PageHandler) =>
    addPageRoute(app, ctx, { method: 'POST', path, fields, handle });

  get('/sign-in', showSignIn);
  post('/sign-in', ['email', 'password', 'next'], postSignIn);
  get('/sign-in/code', showCode);
  post('/sign-in/code', ['code', 'next'], postCode);
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
  post('/account/sessions/end', ['id'], endOneSession);
  post('/account/sessions/end-all', [], endAllSessions);
  get('/account/password', showPassword);
  post('/account/password', ['password'], postPassword);
  get('/account/email', showEmail);
  post('/account/email', ['email'], postEmail);
  get('/account/email/confirm', showNewEmail);
  post('/account/email/confirm', ['token'], confirmNewEmail);
  get('/account/second-factor', showSecondFactor);
  post('/account/second-factor', ['code'], postSecondFactor);
  post('/account/second-factor/remove', [], removeFactor);
}
