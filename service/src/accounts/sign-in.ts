import type { Context } from '../context.ts';
import { hashPassword, needsRehash, verifyPassword } from './password.ts';
import { startSession } from './sessions.ts';
import { findUserByEmail, setPasswordHash } from './store.ts';
import { throttleAttempt } from './throttle.ts';

/** Returns the new cookie, or null for a wrong password or an unknown address; the two are indistinguishable. */
export async function signInWithPassword(
  ctx: Context,
  cookie: string,
  email: string,
  password: string,
): Promise<string | null> {
  const attempts = await throttleAttempt(ctx, email);
  const user = await findUserByEmail(ctx.db, email.trim());
  if (!(await verifyPassword(ctx, user?.password_hash, password)) || user === undefined) return null;
  await attempts.clear();
  if (user.password_hash !== null && needsRehash(user.password_hash)) {
    await setPasswordHash(ctx.db, user.id, await hashPassword(ctx, password));
  }
  return ctx.db.transaction().execute((tx) => startSession(ctx, tx, cookie, user.id, 'password'));
}
