import { isSecret } from '../../kernel/secret-hash.ts';
import type { Context } from '../../platform/context/context.ts';
import { messagePage } from '../../platform/pages/message-page.ts';
import { checkMailPage, confirmPage, registerPage } from '../../platform/pages/register-pages.ts';
import type { Browser } from './browser.ts';
import type { PageRequest, PageResponse } from './page-route.ts';
import { confirmRegistration, findPendingRegistration, startRegistration } from './registration.ts';
import { parseReturnPath } from './return-path.ts';
import { findSignInRequest } from './sign-in-request.ts';

const GONE: PageResponse = {
  status: 410,
  page: messagePage({
    title: 'This link no longer works',
    text: 'It has already been used or has expired. If you confirmed your email, sign in. Otherwise, create your account again.',
    action: { label: 'Sign in', href: '/sign-in' },
  }),
};

export async function showRegister(
  ctx: Context,
  { session, csrf }: Browser,
  { query }: PageRequest,
): Promise<PageResponse> {
  const returnPath = parseReturnPath(query.next);
  if (session !== null) return { redirect: returnPath ?? '/account' };
  const signIn = await findSignInRequest(ctx, returnPath);
  return { page: registerPage({ csrf, returnPath, app: signIn?.app ?? null }) };
}

export async function postRegister(
  ctx: Context,
  { cookie, csrf, source, locale }: Browser,
  { form }: PageRequest,
): Promise<PageResponse> {
  const { email = '', password = '', kind = '' } = form;
  const returnPath = parseReturnPath(form.next);
  const problems = await startRegistration(
    ctx,
    { cookie, source, locale },
    { email, password, kind, continueTo: returnPath },
  );
  if (problems === null) {
    const { mailboxUrl } = ctx.config;
    return { page: checkMailPage({ email: email.trim(), retryPath: '/register', mailboxUrl }) };
  }
  const signIn = await findSignInRequest(ctx, returnPath);
  const page = registerPage({ csrf, returnPath, app: signIn?.app ?? null, email, kind, problems });
  return { status: 422, page };
}

export async function showConfirm(
  ctx: Context,
  { cookie, csrf }: Browser,
  { query }: PageRequest,
): Promise<PageResponse> {
  const token = String(query.token ?? '');
  const pending = isSecret(token) ? await findPendingRegistration(ctx, cookie, token) : null;
  return pending === null ? GONE : { page: confirmPage({ csrf, token, ...pending }) };
}

export async function postConfirm(
  ctx: Context,
  { cookie, csrf, source }: Browser,
  { form }: PageRequest,
): Promise<PageResponse> {
  const { token = '', password = '' } = form;
  const pending = isSecret(token) ? await findPendingRegistration(ctx, cookie, token) : null;
  if (pending === null) return GONE;
  const confirmation = await confirmRegistration(ctx, { cookie, source }, token, password);
  if (confirmation.outcome === 'gone') return GONE;
  if (confirmation.outcome === 'wrong_password') {
    const problem = 'Incorrect password. Enter the one you chose when you signed up.';
    return { status: 422, page: confirmPage({ csrf, token, ...pending, problem }) };
  }
  return { cookie: confirmation.cookie, redirect: confirmation.continueTo ?? '/account' };
}
