import type { Context } from '../context.ts';
import { composeMail } from '../mail/message.ts';
import { sendMail } from '../mail/outbox.ts';
import type { Browser } from './browser.ts';
import { deleteLinksOf } from './mail-link-store.ts';
import { findPasswordProblem, hashPassword } from './password.ts';
import { endSessionsOf, type Session, startSession } from './sessions.ts';
import { setPasswordHash } from './store.ts';
import { localeOf } from './user.ts';

export type PasswordChange = { outcome: 'done'; cookie: string } | { outcome: 'refused'; problem: string };

/**
 * Sets a new password for a user who has just signed in. Signs out every other browser and voids open links; this browser
 * gets a new cookie. Connected apps keep their access, because the user is in control.
 */
export async function changePassword(
  ctx: Context,
  { cookie, source }: Pick<Browser, 'cookie' | 'source'>,
  { user, method, secondFactor }: Session,
  password: string,
): Promise<PasswordChange> {
  const problem = findPasswordProblem(password, user.email);
  if (problem !== null) return { outcome: 'refused', problem };
  const passwordHash = await hashPassword(ctx, password);
  const newCookie = await ctx.db.transaction().execute(async (tx) => {
    await setPasswordHash(tx, user.id, passwordHash);
    await endSessionsOf(tx, user.id);
    await deleteLinksOf(tx, user.id);
    const url = `${ctx.baseUrl}/forgot`;
    await sendMail(ctx, tx, composeMail(user.email, localeOf(user), 'password_replaced', { url }));
    return startSession(ctx, tx, { cookie, source }, user.id, { method, secondFactor });
  });
  return { outcome: 'done', cookie: newCookie };
}
