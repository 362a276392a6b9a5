import { newSecret } from '../../kernel/secret-hash.ts';
import { recordFailedSignIn } from '../../platform/audit/store.ts';
import type { Context } from '../../platform/context/context.ts';
import { codePage, signInPage, withReturnPath } from '../../platform/pages/sign-in-page.ts';
import { findUser, findUserByEmail, lockAccount, replacePasswordHash } from '../users/store.ts';
import type { Browser } from './browser.ts';
import type { PageHandler } from './page-route.ts';
import { passkeyUrl, supportsPasskeys } from './passkeys.ts';
import { hashPassword, needsRehash, verifyPassword } from './password.ts';
import { consumeSecondFactor, hasSecondFactor } from './second-factor.ts';
import {
  countPendingAttempt,
  deletePendingSignIn,
  deleteSession,
  findPendingUser,
  insertPendingSignIn,
} from './session-store.ts';
import { startSession } from './sessions.ts';
import { findSignInRequest, interactionUid, parseReturnPath } from './sign-in-request.ts';
import { noteSignIn, throttleAttempt, throttleCode } from './throttle.ts';

type Visitor = Pick<Browser, 'cookie' | 'source'>;

/** After `needs_code`, the browser is not signed in until `completeSignIn` accepts a code. */
type SignIn = { outcome: 'done' | 'needs_code'; cookie: string };

/** Returns null on failure. Callers cannot tell a wrong password from an unknown address. */
async function signInWithPassword(
  ctx: Context,
  { cookie, source }: Visitor,
  email: string,
  password: string,
): Promise<SignIn | null> {
  const attempt = await throttleAttempt(ctx, email, source);
  const user = await findUserByEmail(ctx.db, email);
  if (!(await verifyPassword(ctx, user?.password_hash, password, source.network)) || user === undefined) {
    await recordFailedSignIn(ctx.db, user?.id ?? null);
    return null;
  }
  await attempt.succeed();
  let verifiedHash = user.password_hash;
  if (verifiedHash !== null && needsRehash(verifiedHash)) {
    const current = await hashPassword(ctx, password, source.network);
    await replacePasswordHash(ctx.db, user.id, { old: verifiedHash, current });
    verifiedHash = current;
  }
  const signIn = await ctx.db.transaction().execute(async (tx): Promise<SignIn | null> => {
    const current = await lockAccount(tx, user.id);
    const isUnchanged = current?.password_hash === verifiedHash;
    if (!isUnchanged && !(await verifyPassword(ctx, current?.password_hash, password, source.network)))
      return null;
    if (await hasSecondFactor(tx, user.id)) {
      const newCookie = newSecret(ctx.random);
      await deleteSession(tx, cookie);
      await deletePendingSignIn(tx, cookie);
      await insertPendingSignIn(tx, newCookie, user.id);
      return { outcome: 'needs_code', cookie: newCookie };
    }
    await noteSignIn(ctx, tx, user, source);
    const authentication = { method: 'password', secondFactor: null } as const;
    return {
      outcome: 'done',
      cookie: await startSession(ctx, tx, { cookie, source }, user.id, authentication),
    };
  });
  if (signIn === null) await recordFailedSignIn(ctx.db, user.id);
  return signIn;
}

type CodeSignIn = { outcome: 'done'; cookie: string } | { outcome: 'wrong_code' } | { outcome: 'gone' };

async function completeSignIn(ctx: Context, { cookie, source }: Visitor, code: string): Promise<CodeSignIn> {
  const userId = await countPendingAttempt(ctx.db, cookie);
  const user = userId === null ? undefined : await findUser(ctx.db, userId);
  if (user === undefined) return { outcome: 'gone' };
  const attempt = await throttleCode(ctx, user.email, source);
  const signIn = await ctx.db.transaction().execute(async (tx): Promise<CodeSignIn> => {
    await lockAccount(tx, user.id);
    const secondFactor = await consumeSecondFactor(ctx, tx, user.id, code);
    if (secondFactor === null) return { outcome: 'wrong_code' };
    if (!(await deletePendingSignIn(tx, cookie))) return { outcome: 'gone' };
    await noteSignIn(ctx, tx, user, source);
    const authentication = { method: 'password', secondFactor } as const;
    return {
      outcome: 'done',
      cookie: await startSession(ctx, tx, { cookie, source }, user.id, authentication),
    };
  });
  if (signIn.outcome === 'done') await attempt.succeed();
  if (signIn.outcome === 'wrong_code') await recordFailedSignIn(ctx.db, user.id);
  return signIn;
}

const HOME = '/account';
const SIGN_IN_AGAIN = 'Sign in again to continue. We ask for this before changes to your account’s security.';
const NOTICES = new Map([
  ['password_set', 'Your password was changed. Sign in with the new one.'],
  ['signed_out', 'You’re signed out everywhere.'],
]);

export const showSignIn: PageHandler = async (ctx, { session, csrf }, { query }) => {
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
};

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

export const postSignIn: PageHandler = async (ctx, { cookie, csrf, source }, { form }) => {
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
};

export const showCode: PageHandler = async (ctx, { cookie, csrf }, { query }) => {
  const returnPath = parseReturnPath(query.next);
  const isPending = (await findPendingUser(ctx.db, cookie)) !== null;
  if (!isPending) return { redirect: withReturnPath('/sign-in', returnPath) };
  const signIn = await findSignInRequest(ctx, returnPath);
  const page = codePage({ csrf, returnPath });
  return { page, formTargets: signIn?.formTargets ?? [] };
};

export const postCode: PageHandler = async (ctx, browser, { form }) => {
  const returnPath = parseReturnPath(form.next);
  const result = await completeSignIn(ctx, browser, form.code ?? '');
  if (result.outcome === 'gone') return { redirect: withReturnPath('/sign-in', returnPath) };
  if (result.outcome === 'done') return { cookie: result.cookie, redirect: returnPath ?? HOME };
  const signIn = await findSignInRequest(ctx, returnPath);
  const problem = 'That code didn’t work. Codes work once; wait for the next one and try again.';
  const page = codePage({ csrf: browser.csrf, returnPath, problem });
  return { status: 422, page, formTargets: signIn?.formTargets ?? [] };
};

export const postSignOut: PageHandler = async (ctx, { cookie }, { form }) => {
  await deleteSession(ctx.db, cookie);
  return { cookie: newSecret(ctx.random), redirect: parseReturnPath(form.next) ?? '/sign-in' };
};
