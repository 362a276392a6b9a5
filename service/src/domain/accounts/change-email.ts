import { isSecret } from '../../kernel/secret-hash.ts';
import type { Context } from '../../platform/context/context.ts';
import { composeMail } from '../../platform/mail/message.ts';
import { sendMail } from '../../platform/mail/outbox.ts';
import { normalizeEmail } from '../users/email.ts';
import { localeOf } from '../users/user.ts';
import { findUserByEmail, lockAccount, setEmail, type User } from '../users/user-store.ts';
import { deleteLinksOf } from './mail-link-store.ts';
import { consumeLink, createChangeEmailLink, findNewAddress } from './mail-links.ts';
import { INVALID_EMAIL, isEmail } from './registration.ts';
import { lockSession, type Session } from './sessions.ts';
import { type Source, throttleMail } from './throttle.ts';

/** The PostgreSQL error code for a duplicate key. It occurs if two users take the same address at the same moment. */
const UNIQUE_VIOLATION = '23505';

/**
 * Sends a confirmation link to the new address and a notice to the old one. If the new address already has an account,
 * its owner gets a notice instead of the link. Nobody else learns that the account exists. Returns an error message for
 * the form if the new address is invalid or is the user's current one, otherwise null.
 */
export async function requestEmailChange(
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

/** Returns the new address that a link confirms, or null if this user has no valid link with this secret. */
export async function findEmailChange(ctx: Context, user: User, secret: string): Promise<string | null> {
  return isSecret(secret) ? findNewAddress(ctx, user.id, secret) : null;
}

/**
 * Replaces the user's address with the confirmed address. Returns false if the link has expired, was used or belongs to
 * another user, or if the address is taken.
 */
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
