import type { Context } from '../context.ts';
import { newId } from '../http/ids.ts';
import { FORMATS } from '../http/wire.ts';
import { sendMail } from '../mail/outbox.ts';
import { hashSecret } from '../secret-hash.ts';
import { consumeLink, createConfirmLink, findConfirmLink } from './mail-links.ts';
import { confirmMail, knownAddressMail } from './mails.ts';
import { findPasswordProblem, hashPassword, isPassword } from './password.ts';
import { startSession } from './sessions.ts';
import { findUserByEmail, insertUser, type UserKind } from './store.ts';
import { takeAttempt, takeMail } from './throttle.ts';

export type RegisterInput = { email: string; password: string; kind: string; continueTo: string | null };

/** Per field what is wrong, in words for the person at the form. */
export type FormProblems = Partial<Record<'email' | 'password' | 'kind', string>>;

/**
 * Asks the owner of the address to confirm it. Known and unknown addresses take the same way: one password
 * hashed, one mail written; only the mailbox tells them apart.
 */
export async function register(
  ctx: Context,
  browser: string,
  input: RegisterInput,
): Promise<FormProblems | null> {
  const email = input.email.trim();
  const kind = asKind(input.kind);
  const problems = findProblems(email, input.password, kind);
  if (problems !== null || kind === null) return problems;
  await takeMail(ctx, email);
  const passwordHash = await hashPassword(ctx, input.password);
  await ctx.db.transaction().execute(async (tx) => {
    const user = await findUserByEmail(tx, email);
    if (user !== undefined) return sendMail(ctx, tx, knownAddressMail(ctx, user.email));
    const registration = { email, kind, passwordHash };
    const secret = await createConfirmLink(ctx, tx, {
      registration,
      cookie: browser,
      continueTo: input.continueTo,
    });
    await sendMail(ctx, tx, confirmMail(ctx, email, secret));
  });
  return null;
}

export type PendingRegistration = { email: string; needsPassword: boolean };

/**
 * What the page behind the mail's link has to ask. Anybody can register with somebody else's address, so a
 * browser that did not fill the form in must know the password that was chosen in it.
 */
export async function findPendingRegistration(
  ctx: Context,
  browser: string,
  secret: string,
): Promise<PendingRegistration | null> {
  const link = await findConfirmLink(ctx, secret);
  if (link === null) return null;
  return { email: link.registration.email, needsPassword: !isSameBrowser(link.browser, browser) };
}

export type Confirmed =
  | { outcome: 'done'; cookie: string; continueTo: string | null }
  | { outcome: 'wrong_password' }
  | { outcome: 'gone' };

/** Makes the account and signs the browser in. */
export async function confirmRegistration(
  ctx: Context,
  browser: string,
  secret: string,
  password: string,
): Promise<Confirmed> {
  const link = await findConfirmLink(ctx, secret);
  if (link === null) return { outcome: 'gone' };
  const { registration } = link;
  const sameBrowser = isSameBrowser(link.browser, browser);
  if (!sameBrowser) {
    const attempt = await takeAttempt(ctx, registration.email);
    if (!(await isPassword(ctx, registration.passwordHash, password))) return { outcome: 'wrong_password' };
    await attempt.forgive();
  }
  const user = {
    id: newId(ctx.clock, ctx.random),
    email: registration.email,
    kind: registration.kind,
    password_hash: registration.passwordHash,
  };
  return ctx.db.transaction().execute(async (tx): Promise<Confirmed> => {
    if (!(await consumeLink(tx, 'confirm', secret)) || !(await insertUser(tx, user)))
      return { outcome: 'gone' };
    const cookie = await startSession(ctx, tx, browser, user.id, 'password');
    return { outcome: 'done', cookie, continueTo: sameBrowser ? link.continueTo : null };
  });
}

function isSameBrowser(hash: Buffer | null, browser: string): boolean {
  return hash?.equals(hashSecret(browser)) === true;
}

function findProblems(email: string, password: string, kind: UserKind | null): FormProblems | null {
  const problems: FormProblems = {};
  if (!isEmail(email)) problems.email = 'Enter an e-mail address, such as name@example.com.';
  const passwordProblem = findPasswordProblem(password, email);
  if (passwordProblem !== null) problems.password = passwordProblem;
  if (kind === null) problems.kind = 'Choose one.';
  return Object.keys(problems).length > 0 ? problems : null;
}

export function isEmail(text: string): boolean {
  return FORMATS.email?.test(text) === true;
}

function asKind(text: string): UserKind | null {
  return text === 'person' || text === 'company' ? text : null;
}
