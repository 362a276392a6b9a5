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
import { consumeLink, createConfirmLink, findConfirmLink, type Registration } from './mail-link-store.ts';
import type { PageHandler, PageResponse } from './page-route.ts';
import { findPasswordProblem, hashPassword, verifyPassword } from './password.ts';
import { startSession } from './sessions.ts';
import { findSignInRequest, parseReturnPath } from './sign-in-request.ts';
import { rememberSource, type Source, throttleAttempt, throttleMail } from './throttle.ts';

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

/** Finds a registration. Another browser needs its password, because anyone can register someone else's address. */
async function findPending(ctx: Context, cookie: string, token: string) {
  const link = isSecret(token) ? await findConfirmLink(ctx, token) : null;
  return link && { ...link, needsPassword: link.browser?.equals(hashSecret(cookie)) !== true };
}

async function checkPassword(
  ctx: Context,
  { email, passwordHash }: Registration,
  source: Source,
  password: string,
): Promise<boolean> {
  const attempt = await throttleAttempt(ctx, email, source);
  const isRight = await verifyPassword(ctx, passwordHash, password, source.network);
  await (isRight ? attempt.succeed() : recordFailedSignIn(ctx.db, null));
  return isRight;
}

/** Signs the browser in and returns its new cookie, or null if the link has been used or the address is taken. */
async function createAccount(
  ctx: Context,
  { cookie, source }: Pick<Browser, 'cookie' | 'source'>,
  secret: string,
  { email, kind, passwordHash, locale }: Registration,
): Promise<string | null> {
  const user = {
    id: newId(ctx.clock, ctx.random),
    email,
    kind,
    password_hash: passwordHash,
    locale: locale ?? null,
  };
  return ctx.db.transaction().execute(async (tx) => {
    if (!(await consumeLink(tx, 'confirm', secret)) || !(await insertUser(tx, user))) return null;
    const authentication = { method: 'password', secondFactor: null } as const;
    const newCookie = await startSession(ctx, tx, { cookie, source }, user.id, authentication);
    await rememberSource({ ...ctx, db: tx }, user.email, source);
    return newCookie;
  });
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

export const showRegister: PageHandler = async (ctx, { session, csrf }, { query }) => {
  const returnPath = parseReturnPath(query.next);
  if (session !== null) return { redirect: returnPath ?? '/account' };
  const signIn = await findSignInRequest(ctx, returnPath);
  return { page: registerPage({ csrf, returnPath, app: signIn?.app ?? null }) };
};

export const postRegister: PageHandler = async (ctx, { cookie, csrf, source, locale }, { form }) => {
  const { email = '', password = '', kind = '' } = form;
  const returnPath = parseReturnPath(form.next);
  const input = { email, password, kind, continueTo: returnPath };
  const problems = await startRegistration(ctx, { cookie, source, locale }, input);
  if (problems === null) {
    const { mailboxUrl } = ctx.config;
    return { page: checkMailPage({ email: email.trim(), retryPath: '/register', mailboxUrl }) };
  }
  const signIn = await findSignInRequest(ctx, returnPath);
  const page = registerPage({ csrf, returnPath, app: signIn?.app ?? null, email, kind, problems });
  return { status: 422, page };
};

export const showConfirm: PageHandler = async (ctx, { cookie, csrf }, { query }) => {
  const token = String(query.token ?? '');
  const pending = await findPending(ctx, cookie, token);
  if (pending === null) return GONE;
  const { registration, needsPassword } = pending;
  return { page: confirmPage({ csrf, token, email: registration.email, needsPassword }) };
};

export const postConfirm: PageHandler = async (ctx, { cookie, csrf, source }, { form }) => {
  const { token = '', password = '' } = form;
  const pending = await findPending(ctx, cookie, token);
  if (pending === null) return GONE;
  const { registration, needsPassword, continueTo } = pending;
  if (needsPassword && !(await checkPassword(ctx, registration, source, password))) {
    const { email } = registration;
    const problem = 'Incorrect password. Enter the one you chose when you signed up.';
    return { status: 422, page: confirmPage({ csrf, token, email, needsPassword, problem }) };
  }
  const newCookie = await createAccount(ctx, { cookie, source }, token, registration);
  if (newCookie === null) return GONE;
  return { cookie: newCookie, redirect: (needsPassword ? null : continueTo) ?? '/account' };
};
