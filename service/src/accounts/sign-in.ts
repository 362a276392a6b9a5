import { recordFailedSignIn } from '../audit/entry.ts';
import type { Context } from '../context.ts';
import type { Browser } from './browser.ts';
import { hashPassword, needsRehash, verifyPassword } from './password.ts';
import { startSession } from './sessions.ts';
import { noteSignIn } from './sign-in-notice.ts';
import { findUserByEmail, replacePasswordHash } from './store.ts';
import { throttleAttempt } from './throttle.ts';

/**
 * Signs in with a password. Returns the new cookie, or null on failure. Callers cannot tell a wrong password
 * from an unknown address.
 */
export async function signInWithPassword(
  ctx: Context,
  { cookie, source }: Pick<Browser, 'cookie' | 'source'>,
  email: string,
  password: string,
): Promise<string | null> {
  const attempt = await throttleAttempt(ctx, email, source);
  const user = await findUserByEmail(ctx.db, email);
  if (!(await verifyPassword(ctx, user?.password_hash, password)) || user === undefined) {
    await recordFailedSignIn(ctx.db, user?.id ?? null);
    return null;
  }
  await attempt.succeed();
  if (user.password_hash !== null && needsRehash(user.password_hash)) {
    const current = await hashPassword(ctx, password);
    await replacePasswordHash(ctx.db, user.id, { old: user.password_hash, current });
  }
  return ctx.db.transaction().execute(async (tx) => {
    await noteSignIn(ctx, tx, user, source);
    return startSession(ctx, tx, cookie, user.id, 'password');
  });
}
