import type { Context } from '../context.ts';
import { signInPage } from '../pages/sign-in-page.ts';
import { newSecret } from '../secret-hash.ts';
import type { Browser } from './browser.ts';
import type { PageRequest, PageResponse } from './page-route.ts';
import { supportsPasskeys } from './passkeys.ts';
import { parseReturnPath } from './return-path.ts';
import { endSession } from './sessions.ts';
import { signInWithPassword } from './sign-in.ts';
import { findSignInRequest } from './sign-in-request.ts';

const HOME = '/account';
const SIGN_IN_AGAIN = 'Sign in again to change your passkeys.';
const NOTICES = new Map([['password_set', 'Your password was changed. Sign in with the new one.']]);

export async function showSignIn(
  ctx: Context,
  { session, csrf }: Browser,
  { query }: PageRequest,
): Promise<PageResponse> {
  const returnPath = parseReturnPath(query.next);
  const isAgain = session !== null && query.again === 'yes' && !session.isRecent;
  if (session !== null && !isAgain) return { redirect: returnPath ?? HOME };
  const signIn = await findSignInRequest(ctx, returnPath);
  const message = isAgain ? SIGN_IN_AGAIN : NOTICES.get(String(query.notice));
  const email = session?.user.email;
  const page = signInPage({
    csrf,
    returnPath,
    app: signIn?.app ?? null,
    passkeys: supportsPasskeys(ctx),
    ...(email !== undefined && { email }),
    ...(message !== undefined && { message }),
  });
  return { page, formTargets: signIn?.formTargets ?? [] };
}

export async function postSignIn(
  ctx: Context,
  { cookie, csrf, source }: Browser,
  { form }: PageRequest,
): Promise<PageResponse> {
  const { email = '', password = '' } = form;
  const returnPath = parseReturnPath(form.next);
  const newCookie = await signInWithPassword(ctx, { cookie, source }, email, password);
  if (newCookie !== null) return { cookie: newCookie, redirect: returnPath ?? HOME };
  const signIn = await findSignInRequest(ctx, returnPath);
  const page = signInPage({
    csrf,
    returnPath,
    app: signIn?.app ?? null,
    email,
    problem: 'Incorrect email or password. If you just signed up, confirm your email first.',
    passkeys: supportsPasskeys(ctx),
  });
  return { status: 422, page, formTargets: signIn?.formTargets ?? [] };
}

export async function postSignOut(
  ctx: Context,
  { cookie }: Browser,
  { form }: PageRequest,
): Promise<PageResponse> {
  await endSession(ctx.db, cookie);
  return { cookie: newSecret(ctx.random), redirect: parseReturnPath(form.next) ?? '/sign-in' };
}
