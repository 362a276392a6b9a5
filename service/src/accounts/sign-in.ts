import type { Context } from '../context.ts';
import { hashPassword, isOutdated, isPassword } from './password.ts';
import { startSession } from './sessions.ts';
import { findUserByEmail, setPasswordHash } from './store.ts';
import { takeAttempt } from './throttle.ts';

/** The new cookie, or null: an unknown address and a wrong password cannot be told apart. */
export async function signInWithPassword(
  ctx: Context,
  browser: string,
  email: string,
  password: string,
): Promise<string | null> {
  const attempt = await takeAttempt(ctx, email);
  const user = await findUserByEmail(ctx.db, email.trim());
  if (!(await isPassword(ctx, user?.password_hash, password)) || user === undefined) return null;
  await attempt.forgive();
  if (user.password_hash !== null && isOutdated(user.password_hash)) {
    await setPasswordHash(ctx.db, user.id, await hashPassword(ctx, password));
  }
  return ctx.db.transaction().execute((tx) => startSession(ctx, tx, browser, user.id, 'password'));
}
