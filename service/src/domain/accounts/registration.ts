import { newId } from '../../kernel/ids.ts';
import type { UserKind } from '../../kernel/model/personal-data.ts';
import { hashSecret, isSecret } from '../../kernel/secret-hash.ts';
import { FORMATS } from '../../kernel/wire.ts';
import { recordFailedSignIn } from '../../platform/audit/store.ts';
import type { Context } from '../../platform/context/context.ts';
import { composeMail } from '../../platform/mail/mail.ts';
import { sendMail } from '../../platform/mail/outbox.ts';
import { messagePage } from '../../platform/pages/message-page.ts';
import { checkMailPage, confirmPage, registerPage } from '../../platform/pages/sign-in-page.ts';
import { findUserByEmail, insertUser } from '../users/store.ts';
import { localeOf } from '../users/user.ts';
import type { Browser } from './browser.ts';
import { consumeLink, createConfirmLink, findConfirmLink } from './mail-link-store.ts';
import type { PageRequest, PageResponse } from './page-route.ts';
import { findPasswordProblem, hashPassword, verifyPassword } from './password.ts';
import { startSession } from './sessions.ts';
import { findSignInRequest, parseReturnPath } from './sign-in-request.ts';
import { rememberSource, throttleAttempt, throttleMail } from './throttle.ts';

type RegistrationInput = { email: string; password: string; kind: string; continueTo: string | null };

type FormProblems = Partial<Record<'email' | 'password' | 'kind', string>>;

export const INVALID_EMAIL = 'Enter a valid email address, such as name@example.com.';

/**
 * Starts a registration: sends an email, or returns the validation errors. A new address gets a confirmation link. An
 * address that already has an account gets an email that says so. Both cases do the same work: one password hash and
 * one email. So only the owner of the mailbox learns whether the address has an account.
 */
async function startRegistration(
  ctx: Context,
  { cookie, source, locale }: Pick<Browser, 'cookie' | 'source' | 'locale'>,
  input: RegistrationInput,
): Promise<FormProblems | null> {
  const email = input.email.trim();
  const kind = parseKind(input.kind);
  const problems = findProblems(email, input.password, kind);
  if (problems !== null || kind === null) return problems;
  await throttleMail(ctx, email, source);
  const passwordHash = await hashPassword(ctx, input.password, source.network);
  await ctx.db.transaction().execute(async (tx) => {
    const user = await findUserByEmail(tx, email);
    if (user !== undefined) {
      const urls = { url: `${ctx.baseUrl}/sign-in`, forgotUrl: `${ctx.baseUrl}/forgot` };
      return sendMail(ctx, tx, composeMail(user.email, localeOf(user), 'known_address', urls));
    }
    const registration = { email, kind, passwordHash, locale };
    const secret = await createConfirmLink(ctx, tx, { registration, cookie, continueTo: input.continueTo });
    const url = `${ctx.baseUrl}/confirm?token=${secret}`;
    await sendMail(ctx, tx, composeMail(email, locale, 'confirm_email', { url }));
  });
  return null;
}

type PendingRegistration = { email: string; needsPassword: boolean };

/** Finds a registration. Another browser needs its password, because anyone can register someone else's address. */
async function findPendingRegistration(
  ctx: Context,
  cookie: string,
  secret: string,
): Promise<PendingRegistration | null> {
  const link = await findConfirmLink(ctx, secret);
  if (link === null) return null;
  return { email: link.registration.email, needsPassword: !isSameBrowser(link.browser, cookie) };
}

type Confirmation =
  | { outcome: 'done'; cookie: string; continueTo: string | null }
  | { outcome: 'wrong_password' }
  | { outcome: 'gone' };

async function confirmRegistration(
  ctx: Context,
  { cookie, source }: Pick<Browser, 'cookie' | 'source'>,
  secret: string,
  password: string,
): Promise<Confirmation> {
  const link = await findConfirmLink(ctx, secret);
  if (link === null) return { outcome: 'gone' };
  const { registration } = link;
  const sameBrowser = isSameBrowser(link.browser, cookie);
  if (!sameBrowser) {
    const attempt = await throttleAttempt(ctx, registration.email, source);
    if (!(await verifyPassword(ctx, registration.passwordHash, password, source.network))) {
      await recordFailedSignIn(ctx.db, null);
      return { outcome: 'wrong_password' };
    }
    await attempt.succeed();
  }
  const user = {
    id: newId(ctx.clock, ctx.random),
    email: registration.email,
    kind: registration.kind,
    password_hash: registration.passwordHash,
    locale: registration.locale ?? null,
  };
  return ctx.db.transaction().execute(async (tx): Promise<Confirmation> => {
    if (!(await consumeLink(tx, 'confirm', secret)) || !(await insertUser(tx, user)))
      return { outcome: 'gone' };
    const authentication = { method: 'password', secondFactor: null } as const;
    const newCookie = await startSession(ctx, tx, { cookie, source }, user.id, authentication);
    await rememberSource({ ...ctx, db: tx }, user.email, source);
    return { outcome: 'done', cookie: newCookie, continueTo: sameBrowser ? link.continueTo : null };
  });
}

function isSameBrowser(cookieHash: Buffer | null, cookie: string): boolean {
  return cookieHash?.equals(hashSecret(cookie)) === true;
}

function findProblems(email: string, password: string, kind: UserKind | null): FormProblems | null {
  const problems: FormProblems = {};
  if (!isEmail(email)) problems.email = INVALID_EMAIL;
  const passwordProblem = findPasswordProblem(password, email);
  if (passwordProblem !== null) problems.password = passwordProblem;
  if (kind === null) problems.kind = 'Choose an account type.';
  return Object.keys(problems).length > 0 ? problems : null;
}

export function isEmail(text: string): boolean {
  return FORMATS.email?.test(text) === true;
}

function parseKind(text: string): UserKind | null {
  return text === 'person' || text === 'company' ? text : null;
}

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
