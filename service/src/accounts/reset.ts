import type { Context } from '../context.ts';
import { sendMail } from '../mail/outbox.ts';
import { revokeUserGrants } from '../oauth/revocation.ts';
import { consumeLink, createResetLink, findResetLink } from './mail-links.ts';
import { passwordChangedMail, resetMail, unknownAddressMail } from './mails.ts';
import { findPasswordProblem, hashPassword } from './password.ts';
import { endSessionsOf } from './sessions.ts';
import { findUserByEmail, setPasswordHash } from './store.ts';
import { forgiveFailures, takeMail } from './throttle.ts';

/** A mail goes out in any case, so that neither the page nor the time tells who has an account. */
export async function askForReset(ctx: Context, address: string): Promise<void> {
  const email = address.trim();
  await takeMail(ctx, email);
  await ctx.db.transaction().execute(async (tx) => {
    const user = await findUserByEmail(tx, email);
    if (user === undefined) return sendMail(ctx, tx, unknownAddressMail(ctx, email));
    await sendMail(ctx, tx, resetMail(ctx, user.email, await createResetLink(ctx, tx, user.id)));
  });
}

export type Reset = { outcome: 'done' } | { outcome: 'gone' } | { outcome: 'refused'; problem: string };

/** Sets a new password. Whoever had got in is out: every session and every connected app ends. */
export async function resetPassword(ctx: Context, secret: string, password: string): Promise<Reset> {
  const link = await findResetLink(ctx, secret);
  if (link === null) return { outcome: 'gone' };
  const problem = findPasswordProblem(password, link.email);
  if (problem !== null) return { outcome: 'refused', problem };
  const passwordHash = await hashPassword(ctx, password);
  const consumed = await ctx.db.transaction().execute(async (tx) => {
    if (!(await consumeLink(tx, 'reset', secret))) return false;
    await setPasswordHash(tx, link.userId, passwordHash);
    await endSessionsOf(tx, link.userId);
    await revokeUserGrants(tx, link.userId);
    await sendMail(ctx, tx, passwordChangedMail(ctx, link.email));
    return true;
  });
  if (!consumed) return { outcome: 'gone' };
  await forgiveFailures(ctx, link.email);
  return { outcome: 'done' };
}
