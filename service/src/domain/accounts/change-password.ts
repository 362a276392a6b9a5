import type { Context } from '../../platform/context/context.ts';
import { composeMail } from '../../platform/mail/message.ts';
import { sendMail } from '../../platform/mail/outbox.ts';
import { localeOf } from '../users/user.ts';
import { setPasswordHash } from '../users/user-store.ts';
import { deleteLinksOf } from './mail-link-store.ts';
import { findPasswordProblem, hashPassword } from './password.ts';
import { keepOnlySession, lockSession, type Session } from './sessions.ts';

export type PasswordChange = { outcome: 'done'; cookie: string } | { outcome: 'refused'; problem: string };

/**
 * Sets a new password for a user who has just signed in. Signs out every other browser, voids open links, and gives
 * this browser a new cookie. Connected apps keep their access: unlike a reset, a change is no sign that someone else
 * had access.
 */
export async function changePassword(
  ctx: Context,
  session: Pick<Session, 'id' | 'user'>,
  password: string,
): Promise<PasswordChange> {
  const { user } = session;
  const problem = findPasswordProblem(password, user.email);
  if (problem !== null) return { outcome: 'refused', problem };
  const passwordHash = await hashPassword(ctx, password);
  const cookie = await ctx.db.transaction().execute(async (tx) => {
    await lockSession(tx, session);
    await setPasswordHash(tx, user.id, passwordHash);
    await deleteLinksOf(tx, user.id);
    const url = `${ctx.baseUrl}/forgot`;
    await sendMail(ctx, tx, composeMail(user.email, localeOf(user), 'password_replaced', { url }));
    return keepOnlySession(ctx, tx, session);
  });
  return { outcome: 'done', cookie };
}
