import { isSecret, newSecret } from '../../kernel/secret-hash.ts';
import type { Context } from '../../platform/context/context.ts';
import type { Locale } from '../../platform/mail/catalogue.ts';
import { composeMail } from '../../platform/mail/mail.ts';
import { sendMail } from '../../platform/mail/outbox.ts';
import { messagePage } from '../../platform/pages/message-page.ts';
import { changePasswordPage, forgotPage, resetPage } from '../../platform/pages/security-pages.ts';
import { checkMailPage } from '../../platform/pages/sign-in-page.ts';
import { revokeUserGrants } from '../oauth/grant-store.ts';
import { lockAccount, setPasswordHash } from '../users/store.ts';
import { localeOf } from '../users/user.ts';
import { consumeLink, createResetLink, deleteLinksOf, findResetLink } from './mail-link-store.ts';
import { type PageHandler, type PageResponse, withRecentSession } from './page-route.ts';
import { deletePasskeysOf, listPasskeys } from './passkey-store.ts';
import { findPasswordProblem, hashPassword } from './password.ts';
import { INVALID_EMAIL, isEmail } from './registration.ts';
import { deleteSessionsOf, type Session } from './session-store.ts';
import { keepOnlySession, lockSession } from './sessions.ts';
import { parseReturnPath } from './sign-in-request.ts';
import { clearFailures, type Source, throttleMail } from './throttle.ts';

/**
 * Sets a new password for a user who has just signed in. Signs out every other browser, voids open links, and returns
 * this browser's new cookie. Connected apps keep their access: unlike a reset, a change is no sign that someone else
 * had access.
 */
async function changePassword(
  ctx: Context,
  { network }: Source,
  session: Session,
  password: string,
): Promise<string> {
  const { user } = session;
  const passwordHash = await hashPassword(ctx, password, network);
  return ctx.db.transaction().execute(async (tx) => {
    await lockSession(tx, session);
    await setPasswordHash(tx, user.id, passwordHash);
    await deleteLinksOf(tx, user.id);
    const url = `${ctx.baseUrl}/forgot`;
    await sendMail(ctx, tx, composeMail(user.email, localeOf(user), 'password_replaced', { url }));
    return keepOnlySession(ctx, tx, session);
  });
}

/**
 * Sends a reset link. Unknown addresses get an email too, so that neither the page nor the response time reveals who
 * has an account.
 */
async function requestPasswordReset(
  ctx: Context,
  address: string,
  { source, locale }: { source: Source; locale: Locale },
): Promise<void> {
  const email = address.trim();
  await throttleMail(ctx, email, source);
  await ctx.db.transaction().execute(async (tx) => {
    const user = await lockAccount(tx, email);
    if (user === undefined) {
      const url = `${ctx.baseUrl}/register`;
      return sendMail(ctx, tx, composeMail(email, locale, 'unknown_address', { url }));
    }
    const url = `${ctx.baseUrl}/reset?token=${await createResetLink(ctx, tx, user.id)}`;
    await sendMail(ctx, tx, composeMail(user.email, localeOf(user), 'reset_password', { url }));
  });
}

/**
 * Sets a new password. Ends every session, voids open links and disconnects every app, to lock out anyone who had
 * access. With `removesPasskeys`, also deletes the account's passkeys, because an intruder may have added one. Returns
 * false if the link has been used meanwhile.
 */
async function resetPassword(
  ctx: Context,
  { network }: Source,
  userId: string,
  { secret, password, removesPasskeys }: { secret: string; password: string; removesPasskeys: boolean },
): Promise<boolean> {
  const passwordHash = await hashPassword(ctx, password, network);
  return ctx.db.transaction().execute(async (tx) => {
    const user = await lockAccount(tx, userId);
    if (user === undefined || !(await consumeLink(tx, 'reset', secret))) return false;
    await setPasswordHash(tx, user.id, passwordHash);
    if (removesPasskeys) await deletePasskeysOf(tx, user.id);
    await deleteSessionsOf(tx, user.id);
    await deleteLinksOf(tx, user.id);
    await revokeUserGrants(tx, user.id);
    const url = `${ctx.baseUrl}/forgot`;
    await sendMail(ctx, tx, composeMail(user.email, localeOf(user), 'password_changed', { url }));
    return true;
  });
}

const GONE: PageResponse = {
  status: 410,
  page: messagePage({
    title: 'This link no longer works',
    text: 'It has already been used, has expired, or was replaced by a newer one.',
    action: { label: 'Send a new link', href: '/forgot' },
  }),
};

export const showForgot: PageHandler = (_ctx, { csrf, session }, { query }) => {
  const email = session?.user.email;
  const returnPath = parseReturnPath(query.next);
  return { page: forgotPage({ csrf, returnPath, ...(email !== undefined && { email }) }) };
};

export const postForgot: PageHandler = async (ctx, { csrf, source, locale }, { form }) => {
  const email = (form.email ?? '').trim();
  if (!isEmail(email))
    return { status: 422, page: forgotPage({ csrf, returnPath: null, email, problem: INVALID_EMAIL }) };
  await requestPasswordReset(ctx, email, { source, locale });
  const { mailboxUrl } = ctx.config;
  return { page: checkMailPage({ email, retryPath: '/forgot', mailboxUrl }) };
};

export const showReset: PageHandler = async (ctx, { csrf }, { query }) => {
  const token = String(query.token ?? '');
  const link = isSecret(token) ? await findResetLink(ctx, token) : null;
  return link === null ? GONE : { page: resetPage({ csrf, token, ...(await describeAccount(ctx, link)) }) };
};

export const postReset: PageHandler = async (ctx, { csrf, source }, { form }) => {
  const { token = '', password = '', remove_passkeys } = form;
  const link = isSecret(token) ? await findResetLink(ctx, token) : null;
  if (link === null) return GONE;
  const removesPasskeys = remove_passkeys === 'yes';
  const problem = findPasswordProblem(password, link.email);
  if (problem !== null) {
    const account = await describeAccount(ctx, link);
    return { status: 422, page: resetPage({ csrf, token, ...account, removesPasskeys, problem }) };
  }
  const input = { secret: token, password, removesPasskeys };
  if (!(await resetPassword(ctx, source, link.userId, input))) return GONE;
  await clearFailures(ctx, link.email);
  return { cookie: newSecret(ctx.random), redirect: '/sign-in?notice=password_set' };
};

async function describeAccount(ctx: Context, { userId, email }: { userId: string; email: string }) {
  return { email, passkeys: (await listPasskeys(ctx.db, userId)).length };
}

export const showPassword = withRecentSession('/account/password', (_ctx, { csrf }, _request, { user }) => ({
  page: changePasswordPage({ csrf, email: user.email }),
}));

export const postPassword = withRecentSession(
  '/account/password',
  async (ctx, { csrf, source }, { form }, session) => {
    const { password = '' } = form;
    const { email } = session.user;
    const problem = findPasswordProblem(password, email);
    if (problem !== null) return { status: 422, page: changePasswordPage({ csrf, email, problem }) };
    const cookie = await changePassword(ctx, source, session, password);
    return { cookie, redirect: '/account?notice=password_changed' };
  },
);
