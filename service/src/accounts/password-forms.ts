import type { Context } from '../context.ts';
import { messagePage } from '../pages/message-page.ts';
import { forgotPage, resetPage } from '../pages/password-pages.ts';
import { checkMailPage } from '../pages/register-pages.ts';
import { isSecret, newSecret } from '../secret-hash.ts';
import { findResetLink } from './mail-links.ts';
import type { Answer, PageInput } from './page-route.ts';
import { isEmail } from './register.ts';
import { askForReset, resetPassword } from './reset.ts';
import { readNext } from './return-path.ts';
import type { Visit } from './visit.ts';

const GONE: Answer = {
  status: 410,
  page: messagePage({
    title: 'This link no longer works',
    text: 'It was used already, has expired, or a newer one was sent. Ask for another.',
    action: { label: 'Send a new link', href: '/forgot' },
  }),
};

export function showForgot({ csrf, session }: Visit, { query }: PageInput): Answer {
  const email = session?.user.email;
  return { page: forgotPage({ csrf, next: readNext(query.next), ...(email !== undefined && { email }) }) };
}

export async function postForgot(ctx: Context, { csrf }: Visit, { form }: PageInput): Promise<Answer> {
  const email = (form.email ?? '').trim();
  if (!isEmail(email)) {
    const problem = 'Enter an e-mail address, such as name@example.com.';
    return { status: 422, page: forgotPage({ csrf, next: null, email, problem }) };
  }
  await askForReset(ctx, email);
  return { page: checkMailPage(email, '/forgot') };
}

export async function showReset(ctx: Context, { csrf }: Visit, { query }: PageInput): Promise<Answer> {
  const token = String(query.token ?? '');
  const link = isSecret(token) ? await findResetLink(ctx, token) : null;
  return link === null ? GONE : { page: resetPage({ csrf, token, email: link.email }) };
}

export async function postReset(ctx: Context, { csrf }: Visit, { form }: PageInput): Promise<Answer> {
  const { token = '', password = '' } = form;
  const link = isSecret(token) ? await findResetLink(ctx, token) : null;
  if (link === null) return GONE;
  const reset = await resetPassword(ctx, token, password);
  if (reset.outcome === 'gone') return GONE;
  if (reset.outcome === 'refused')
    return { status: 422, page: resetPage({ csrf, token, email: link.email, problem: reset.problem }) };
  return { cookie: newSecret(ctx.random), redirect: '/sign-in?notice=password_set' };
}
