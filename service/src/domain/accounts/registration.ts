import { newId } from '../../kernel/ids.ts';
import type { UserKind } from '../../kernel/model/personal-data.ts';
import { hashSecret } from '../../kernel/secret-hash.ts';
import { FORMATS } from '../../kernel/wire.ts';
import { recordFailedSignIn } from '../../platform/audit/entry.ts';
import type { Context } from '../../platform/context/context.ts';
import { composeMail } from '../../platform/mail/message.ts';
import { sendMail } from '../../platform/mail/outbox.ts';
import { localeOf } from '../users/user.ts';
import { findUserByEmail, insertUser } from '../users/user-store.ts';
import type { Browser } from './browser.ts';
import { consumeLink, createConfirmLink, findConfirmLink } from './mail-links.ts';
import { findPasswordProblem, hashPassword, verifyPassword } from './password.ts';
import { startSession } from './sessions.ts';
import { rememberSource, throttleAttempt, throttleMail } from './throttle.ts';

export type RegistrationInput = { email: string; password: string; kind: string; continueTo: string | null };

/** Error messages for the form, by field. */
export type FormProblems = Partial<Record<'email' | 'password' | 'kind', string>>;

export const INVALID_EMAIL = 'Enter a valid email address, such as name@example.com.';

/**
 * Starts a registration: sends an email, or returns the validation errors. A new address gets a confirmation link. An
 * address that already has an account gets an email that says so. Both cases do the same work: one password hash and
 * one email. So only the owner of the mailbox learns whether the address has an account.
 */
export async function startRegistration(
  ctx: Context,
  { cookie, source, locale }: Pick<Browser, 'cookie' | 'source' | 'locale'>,
  input: RegistrationInput,
): Promise<FormProblems | null> {
  const email = input.email.trim();
  const kind = parseKind(input.kind);
  const problems = findProblems(email, input.password, kind);
  if (problems !== null || kind === null) return problems;
  await throttleMail(ctx, email, source);
  const passwordHash = await hashPassword(ctx, input.password);
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

export type PendingRegistration = { email: string; needsPassword: boolean };

/**
 * Finds the registration for a confirmation link. `needsPassword` is true if another browser started the registration.
 * The user must then enter the password chosen at registration, because anyone can register someone else's address.
 */
export async function findPendingRegistration(
  ctx: Context,
  cookie: string,
  secret: string,
): Promise<PendingRegistration | null> {
  const link = await findConfirmLink(ctx, secret);
  if (link === null) return null;
  return { email: link.registration.email, needsPassword: !isSameBrowser(link.browser, cookie) };
}

export type Confirmation =
  | { outcome: 'done'; cookie: string; continueTo: string | null }
  | { outcome: 'wrong_password' }
  | { outcome: 'gone' };

/** Creates the account and signs the browser in. */
export async function confirmRegistration(
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
    if (!(await verifyPassword(ctx, registration.passwordHash, password))) {
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
