import { isSecret, newSecret } from '../../kernel/secret-hash.ts';
import type { Context } from '../../platform/context/context.ts';
import { messagePage } from '../../platform/pages/message-page.ts';
import { changePasswordPage, forgotPage, resetPage } from '../../platform/pages/password-pages.ts';
import { checkMailPage } from '../../platform/pages/register-pages.ts';
import type { Browser } from './browser.ts';
import { changePassword } from './change-password.ts';
import { findResetLink } from './mail-links.ts';
import type { PageRequest, PageResponse } from './page-route.ts';
import { listPasskeys } from './passkey-store.ts';
import { requestPasswordReset, resetPassword } from './password-reset.ts';
import { withRecentSession } from './recent-session.ts';
import { INVALID_EMAIL, isEmail } from './registration.ts';
import { parseReturnPath } from './return-path.ts';

const GONE: PageResponse = {
  status: 410,
  page: messagePage({
    title: 'This link no longer works',
    text: 'It has already been used, has expired, or was replaced by a newer one.',
    action: { label: 'Send a new link', href: '/forgot' },
  }),
};

export function showForgot(_ctx: Context, { csrf, session }: Browser, { query }: PageRequest): PageResponse {
  const email = session?.user.email;
  const returnPath = parseReturnPath(query.next);
  return { page: forgotPage({ csrf, returnPath, ...(email !== undefined && { email }) }) };
}

export async function postForgot(
  ctx: Context,
  { csrf, source, locale }: Browser,
  { form }: PageRequest,
): Promise<PageResponse> {
  const email = (form.email ?? '').trim();
  if (!isEmail(email))
    return { status: 422, page: forgotPage({ csrf, returnPath: null, email, problem: INVALID_EMAIL }) };
  await requestPasswordReset(ctx, email, { source, locale });
  const { mailboxUrl } = ctx.config;
  return { page: checkMailPage({ email, retryPath: '/forgot', mailboxUrl }) };
}

export async function showReset(
  ctx: Context,
  { csrf }: Browser,
  { query }: PageRequest,
): Promise<PageResponse> {
  const token = String(query.token ?? '');
  const link = isSecret(token) ? await findResetLink(ctx, token) : null;
  return link === null ? GONE : { page: resetPage({ csrf, token, ...(await describeAccount(ctx, link)) }) };
}

export async function postReset(
  ctx: Context,
  { csrf }: Browser,
  { form }: PageRequest,
): Promise<PageResponse> {
  const { token = '', password = '', remove_passkeys } = form;
  const link = isSecret(token) ? await findResetLink(ctx, token) : null;
  if (link === null) return GONE;
  const removesPasskeys = remove_passkeys === 'yes';
  const reset = await resetPassword(ctx, { secret: token, password, removesPasskeys });
  if (reset.outcome === 'gone') return GONE;
  if (reset.outcome === 'refused') {
    const account = await describeAccount(ctx, link);
    const { problem } = reset;
    return { status: 422, page: resetPage({ csrf, token, ...account, removesPasskeys, problem }) };
  }
  return { cookie: newSecret(ctx.random), redirect: '/sign-in?notice=password_set' };
}

async function describeAccount(ctx: Context, { userId, email }: { userId: string; email: string }) {
  return { email, passkeys: (await listPasskeys(ctx.db, userId)).length };
}

export const showPassword = withRecentSession('/account/password', (_ctx, { csrf }, _request, { user }) => ({
  page: changePasswordPage({ csrf, email: user.email }),
}));

export const postPassword = withRecentSession(
  '/account/password',
  async (ctx, { csrf }, { form }, session) => {
    const change = await changePassword(ctx, session, form.password ?? '');
    if (change.outcome === 'done')
      return { cookie: change.cookie, redirect: '/account?notice=password_changed' };
    const page = changePasswordPage({ csrf, email: session.user.email, problem: change.problem });
    return { status: 422, page };
  },
);
