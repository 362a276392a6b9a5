import { newSecret } from '../../kernel/secret-hash.ts';
import type { Context } from '../../platform/context/context.ts';
import { codePage, signInPage, withReturnPath } from '../../platform/pages/sign-in-page.ts';
import type { Browser } from './browser.ts';
import type { PageRequest, PageResponse } from './page-route.ts';
import { passkeyUrl, supportsPasskeys } from './passkeys.ts';
import { interactionUid, parseReturnPath } from './return-path.ts';
import { endSession } from './sessions.ts';
import { completeSignIn, isCodePending, signInWithPassword } from './sign-in.ts';
import { findSignInRequest } from './sign-in-request.ts';

const HOME = '/account';
const SIGN_IN_AGAIN = 'Sign in again to continue. We ask for this before changes to your account’s security.';
const NOTICES = new Map([
  ['password_set', 'Your password was changed. Sign in with the new one.'],
  ['signed_out', 'You’re signed out everywhere.'],
]);

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
    ...passkeySupport(ctx, returnPath),
    isSignedIn: session !== null,
    ...(email !== undefined && { email }),
    ...(message !== undefined && { message }),
  });
  return { page, formTargets: signIn?.formTargets ?? [] };
}

/**
 * Returns whether passkeys work on this host. If they work only on localhost, also returns a link that continues there.
 * During an app's sign-in, the link goes to that sign-in's own page, which restarts the app's request on localhost. The
 * restart is needed because the sign-in's cookie is bound to this host.
 */
function passkeySupport(ctx: Context, returnPath: string | null) {
  const url = passkeyUrl(ctx, withReturnPath('/sign-in', returnPath));
  const isApp = url !== null && interactionUid(returnPath) !== null;
  return {
    passkeys: supportsPasskeys(ctx),
    passkeyUrl: isApp ? `${returnPath}?passkey=elsewhere` : url,
  };
}

export async function postSignIn(
  ctx: Context,
  { cookie, csrf, source }: Browser,
  { form }: PageRequest,
): Promise<PageResponse> {
  const { email = '', password = '' } = form;
  const returnPath = parseReturnPath(form.next);
  const result = await signInWithPassword(ctx, { cookie, source }, email, password);
  if (result !== null) {
    const redirect =
      result.outcome === 'done' ? (returnPath ?? HOME) : withReturnPath('/sign-in/code', returnPath);
    return { cookie: result.cookie, redirect };
  }
  const signIn = await findSignInRequest(ctx, returnPath);
  const page = signInPage({
    csrf,
    returnPath,
    app: signIn?.app ?? null,
    email,
    problem: 'Incorrect email or password. If you just signed up, confirm your email first.',
    ...passkeySupport(ctx, returnPath),
  });
  return { status: 422, page, formTargets: signIn?.formTargets ?? [] };
}

/** Asks for a code from the authenticator app, after the password. */
export async function showCode(
  ctx: Context,
  browser: Browser,
  { query }: PageRequest,
): Promise<PageResponse> {
  const returnPath = parseReturnPath(query.next);
  if (!(await isCodePending(ctx, browser))) return { redirect: withReturnPath('/sign-in', returnPath) };
  const signIn = await findSignInRequest(ctx, returnPath);
  const page = codePage({ csrf: browser.csrf, returnPath });
  return { page, formTargets: signIn?.formTargets ?? [] };
}

export async function postCode(ctx: Context, browser: Browser, { form }: PageRequest): Promise<PageResponse> {
  const returnPath = parseReturnPath(form.next);
  const result = await completeSignIn(ctx, browser, form.code ?? '');
  if (result.outcome === 'gone') return { redirect: withReturnPath('/sign-in', returnPath) };
  if (result.outcome === 'done') return { cookie: result.cookie, redirect: returnPath ?? HOME };
  const signIn = await findSignInRequest(ctx, returnPath);
  const problem = 'That code didn’t work. Codes work once; wait for the next one and try again.';
  const page = codePage({ csrf: browser.csrf, returnPath, problem });
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
