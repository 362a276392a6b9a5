import type { Context } from '../../platform/context/context.ts';
import type { Locale } from '../../platform/mail/locale.ts';
import { composeMail } from '../../platform/mail/message.ts';
import { sendMail } from '../../platform/mail/outbox.ts';
import { revokeUserGrants } from '../oauth/revocation.ts';
import { localeOf } from '../users/user.ts';
import { lockAccount, setPasswordHash } from '../users/user-store.ts';
import { deleteLinksOf } from './mail-link-store.ts';
import { consumeLink, createResetLink, findResetLink } from './mail-links.ts';
import { deletePasskeysOf } from './passkey-store.ts';
import { findPasswordProblem, hashPassword } from './password.ts';
import { endSessionsOf } from './sessions.ts';
import { clearFailures, type Source, throttleMail } from './throttle.ts';

/**
 * Sends a reset link. Unknown addresses get an email too, so that neither the page nor the response time reveals who
 * has an account.
 */
export async function requestPasswordReset(
  ctx: Context,
  address: string,
  { source, locale }: { source: Source; locale: Locale },
): Promise<void> {
  const email = address.trim();
  await throttleMail(ctx, email, source);
  await ctx.db.transaction().execute(async (tx) => {
    const user = await lockAccount(tx, email);
    if (user === undefined) {
      const url = `${ctx.baseUrl}/register`;
      return sendMail(ctx, tx, composeMail(email, locale, 'unknown_address', { url }));
    }
    const url = `${ctx.baseUrl}/reset?token=${await createResetLink(ctx, tx, user.id)}`;
    await sendMail(ctx, tx, composeMail(user.email, localeOf(user), 'reset_password', { url }));
  });
}

export type Reset = { outcome: 'done' } | { outcome: 'gone' } | { outcome: 'refused'; problem: string };

/**
 * Sets a new password. Ends every session, voids open links and disconnects every app, to lock out anyone who had
 * access. With `removesPasskeys`, also deletes the account's passkeys, because an intruder may have added one.
 */
export async function resetPassword(
  ctx: Context,
  { secret, password, removesPasskeys }: { secret: string; password: string; removesPasskeys: boolean },
): Promise<Reset> {
  const link = await findResetLink(ctx, secret);
  if (link === null) return { outcome: 'gone' };
  const problem = findPasswordProblem(password, link.email);
  if (problem !== null) return { outcome: 'refused', problem };
  const passwordHash = await hashPassword(ctx, password);
  const isConsumed = await ctx.db.transaction().execute(async (tx) => {
    const user = await lockAccount(tx, link.userId);
    if (user === undefined || !(await consumeLink(tx, 'reset', secret))) return false;
    await setPasswordHash(tx, user.id, passwordHash);
    if (removesPasskeys) await deletePasskeysOf(tx, user.id);
    await endSessionsOf(tx, user.id);
    await deleteLinksOf(tx, user.id);
    await revokeUserGrants(tx, user.id);
    const url = `${ctx.baseUrl}/forgot`;
    await sendMail(ctx, tx, composeMail(user.email, localeOf(user), 'password_changed', { url }));
    return true;
  });
  if (!isConsumed) return { outcome: 'gone' };
  await clearFailures(ctx, link.email);
  return { outcome: 'done' };
}
