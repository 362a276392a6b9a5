import type { Context } from '../context.ts';
import { signInPage } from '../pages/sign-in-page.ts';
import { newSecret } from '../secret-hash.ts';
import { findSignInRequest } from './interaction.ts';
import type { Answer, PageInput } from './page-route.ts';
import { hasPasskeys } from './passkeys.ts';
import { readNext } from './return-path.ts';
import { endSession } from './sessions.ts';
import { signInWithPassword } from './sign-in.ts';
import type { Visit } from './visit.ts';

const HOME = '/account';

export async function showSignIn(
  ctx: Context,
  { session, csrf }: Visit,
  { query }: PageInput,
): Promise<Answer> {
  const next = readNext(query.next);
  if (session !== null) return { redirect: next ?? HOME };
  const errand = await findSignInRequest(ctx, next);
  const message = query.notice === 'password_set' ? 'Your new password is set. Sign in with it.' : undefined;
  const page = signInPage({
    csrf,
    next,
    app: errand?.app ?? null,
    passkeys: hasPasskeys(ctx),
    ...(message !== undefined && { message }),
  });
  return { page, leadsTo: errand?.leadsTo ?? [] };
}

export async function postSignIn(
  ctx: Context,
  { browser, csrf }: Visit,
  { form }: PageInput,
): Promise<Answer> {
  const { email = '', password = '' } = form;
  const next = readNext(form.next);
  const cookie = await signInWithPassword(ctx, browser, email, password);
  if (cookie !== null) return { cookie, redirect: next ?? HOME };
  const errand = await findSignInRequest(ctx, next);
  const problem =
    'The e-mail or the password is wrong. If you have just registered, open the link in our mail first.';
  const page = signInPage({
    csrf,
    next,
    app: errand?.app ?? null,
    email,
    problem,
    passkeys: hasPasskeys(ctx),
  });
  return { status: 422, page, leadsTo: errand?.leadsTo ?? [] };
}

export async function postSignOut(ctx: Context, { browser }: Visit, { form }: PageInput): Promise<Answer> {
  await endSession(ctx.db, browser);
  return { cookie: newSecret(ctx.random), redirect: readNext(form.next) ?? '/sign-in' };
}
