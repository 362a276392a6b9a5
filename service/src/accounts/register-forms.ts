import type { Context } from '../context.ts';
import { messagePage } from '../pages/message-page.ts';
import { checkMailPage, confirmPage, registerPage } from '../pages/register-pages.ts';
import { isSecret } from '../secret-hash.ts';
import { findSignInRequest } from './interaction.ts';
import type { Answer, PageInput } from './page-route.ts';
import { confirmRegistration, findPendingRegistration, register } from './register.ts';
import { readNext } from './return-path.ts';
import type { Visit } from './visit.ts';

const GONE: Answer = {
  status: 410,
  page: messagePage({
    title: 'This link no longer works',
    text: 'It was used already, or it has expired. If your address is confirmed, sign in; if not, create the account again.',
    action: { label: 'Sign in', href: '/sign-in' },
  }),
};

export async function showRegister(
  ctx: Context,
  { session, csrf }: Visit,
  { query }: PageInput,
): Promise<Answer> {
  const next = readNext(query.next);
  if (session !== null) return { redirect: next ?? '/account' };
  const errand = await findSignInRequest(ctx, next);
  return { page: registerPage({ csrf, next, app: errand?.app ?? null }) };
}

export async function postRegister(
  ctx: Context,
  { browser, csrf }: Visit,
  { form }: PageInput,
): Promise<Answer> {
  const { email = '', password = '', kind = '' } = form;
  const next = readNext(form.next);
  const problems = await register(ctx, browser, { email, password, kind, continueTo: next });
  if (problems === null) return { page: checkMailPage(email.trim(), '/register') };
  const errand = await findSignInRequest(ctx, next);
  return { status: 422, page: registerPage({ csrf, next, app: errand?.app ?? null, email, kind, problems }) };
}

export async function showConfirm(
  ctx: Context,
  { browser, csrf }: Visit,
  { query }: PageInput,
): Promise<Answer> {
  const token = String(query.token ?? '');
  const pending = isSecret(token) ? await findPendingRegistration(ctx, browser, token) : null;
  return pending === null ? GONE : { page: confirmPage({ csrf, token, ...pending }) };
}

export async function postConfirm(
  ctx: Context,
  { browser, csrf }: Visit,
  { form }: PageInput,
): Promise<Answer> {
  const { token = '', password = '' } = form;
  const pending = isSecret(token) ? await findPendingRegistration(ctx, browser, token) : null;
  if (pending === null) return GONE;
  const confirmed = await confirmRegistration(ctx, browser, token, password);
  if (confirmed.outcome === 'gone') return GONE;
  if (confirmed.outcome === 'wrong_password') {
    return {
      status: 422,
      page: confirmPage({ csrf, token, ...pending, problem: 'This is not the password that was chosen.' }),
    };
  }
  return { cookie: confirmed.cookie, redirect: confirmed.continueTo ?? '/account' };
}
