import { isSecret } from '../../kernel/secret-hash.ts';
import type { Context } from '../../platform/context/context.ts';
import { composeMail } from '../../platform/mail/mail.ts';
import { sendMail } from '../../platform/mail/outbox.ts';
import { messagePage } from '../../platform/pages/message-page.ts';
import {
  changeEmailPage,
  confirmEmailPage,
  emailChangeSentPage,
} from '../../platform/pages/security-pages.ts';
import { findUserByEmail, lockAccount, setEmail, type User } from '../users/store.ts';
import { localeOf, normalizeEmail } from '../users/user.ts';
import { consumeLink, createChangeEmailLink, deleteLinksOf, findNewAddress } from './mail-link-store.ts';
import { type PageHandler, type PageResponse, withRecentSession } from './page-route.ts';
import { INVALID_EMAIL, isEmail } from './registration.ts';
import type { Session } from './session-store.ts';
import { lockSession } from './sessions.ts';
import { type Source, throttleMail } from './throttle.ts';

/** The PostgreSQL error code for a duplicate key. It occurs if two users take the same address at the same moment. */
const UNIQUE_VIOLATION = '23505';

/**
 * Sends a confirmation link to the new address and a notice to the old one. If the new address already has an account,
 * its owner gets a notice instead of the link. Nobody else learns that the account exists. Returns an error message for
 * the form if the new address is invalid or is the user's current one, otherwise null.
 */
async function requestEmailChange(
  ctx: Context,
  session: Session,
  address: string,
  source: Source,
): Promise<string | null> {
  const { user } = session;
  const email = address.trim();
  if (!isEmail(email)) return INVALID_EMAIL;
  if (normalizeEmail(email) === normalizeEmail(user.email)) return 'This is already your email address.';
  await throttleMail(ctx, email, source);
  await ctx.db.transaction().execute(async (tx) => {
    await lockSession(tx, session);
    const owner = await findUserByEmail(tx, email);
    const secret = await createChangeEmailLink(ctx, tx, user.id, email);
    const accountUrl = `${ctx.baseUrl}/account`;
    const mail =
      owner === undefined
        ? composeMail(email, localeOf(user), 'confirm_new_address', {
            url: `${ctx.baseUrl}/account/email/confirm?token=${secret}`,
          })
        : composeMail(owner.email, localeOf(owner), 'address_in_use', { url: accountUrl });
    await sendMail(ctx, tx, mail);
    const values = { url: `${ctx.baseUrl}/forgot` };
    await sendMail(ctx, tx, composeMail(user.email, localeOf(user), 'address_change_requested', values));
  });
  return null;
}

async function findEmailChange(ctx: Context, user: User, secret: string): Promise<string | null> {
  return isSecret(secret) ? findNewAddress(ctx, user.id, secret) : null;
}

/** Replaces the user's address. Returns false if the link is not valid for this user, or if the address is taken. */
export async function confirmEmailChange(ctx: Context, user: User, secret: string): Promise<boolean> {
  const email = await findEmailChange(ctx, user, secret);
  if (email === null) return false;
  const change = ctx.db.transaction().execute(async (tx) => {
    await lockAccount(tx, user.id);
    if (!(await consumeLink(tx, 'change_email', secret))) return false;
    if (!(await setEmail(tx, user.id, email))) return false;
    // Also deletes password reset links: they went to the former address, which the user may no longer control.
    await deleteLinksOf(tx, user.id);
    const values = { url: `${ctx.baseUrl}/account`, email };
    await sendMail(ctx, tx, composeMail(user.email, localeOf(user), 'address_changed', values));
    return true;
  });
  return change.catch((error: unknown) => {
    if ((error as { code?: unknown }).code === UNIQUE_VIOLATION) return false;
    throw error;
  });
}

const PATH = '/account/email';

const GONE: PageResponse = {
  status: 410,
  page: messagePage({
    title: 'This link no longer works',
    text: 'It has already been used, has expired, or belongs to another account.',
    action: { label: 'Your account', href: '/account' },
  }),
};

const SIGN_IN_FIRST: PageResponse = {
  page: messagePage({
    title: 'Sign in first',
    text: 'Sign in to the account that asked for the new address, then open the link in the email again.',
    action: { label: 'Sign in', href: '/sign-in' },
    art: 'mail',
  }),
};

export const showEmail = withRecentSession(PATH, (_ctx, { csrf }, _request, { user }) => ({
  page: changeEmailPage({ csrf, current: user.email }),
}));

export const postEmail = withRecentSession(PATH, async (ctx, { csrf, source }, { form }, session) => {
  const { email = '' } = form;
  const problem = await requestEmailChange(ctx, session, email, source);
  if (problem === null) return { page: emailChangeSentPage(email.trim(), ctx.config.mailboxUrl) };
  return { status: 422, page: changeEmailPage({ csrf, current: session.user.email, email, problem }) };
});

export const showNewEmail: PageHandler = async (ctx, { session, csrf }, { query }) => {
  if (session === null) return SIGN_IN_FIRST;
  const token = String(query.token ?? '');
  const email = await findEmailChange(ctx, session.user, token);
  return email === null ? GONE : { page: confirmEmailPage({ csrf, token, email }) };
};

export const confirmNewEmail: PageHandler = async (ctx, { session }, { form }) => {
  if (session === null) return SIGN_IN_FIRST;
  const isChanged = await confirmEmailChange(ctx, session.user, form.token ?? '');
  return isChanged ? { redirect: '/account?notice=email_changed' } : GONE;
};
