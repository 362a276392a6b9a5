import { hashSecret, newSecret } from '../../kernel/secret-hash.ts';
import { recordFailedSignIn } from '../../platform/audit/entry.ts';
import type { Context } from '../../platform/context/context.ts';
import { findUser, findUserByEmail, lockAccount, replacePasswordHash } from '../users/user-store.ts';
import type { Browser } from './browser.ts';
import { hashPassword, needsRehash, verifyPassword } from './password.ts';
import {
  countPendingAttempt,
  deletePendingSignIn,
  findPendingUser,
  insertPendingSignIn,
} from './pending-sign-in-store.ts';
import { consumeSecondFactor, hasSecondFactor } from './second-factor.ts';
import { endSession, startSession } from './sessions.ts';
import { noteSignIn } from './sign-in-notice.ts';
import { throttleAttempt, throttleCode } from './throttle.ts';

type Visitor = Pick<Browser, 'cookie' | 'source'>;

/**
 * The result of a correct password, with the browser's new cookie. After `needs_code`, the browser is not signed in
 * until `completeSignIn` accepts a code.
 */
export type SignIn = { outcome: 'done' | 'needs_code'; cookie: string };

/**
 * Signs in with a password. Returns null on failure. Callers cannot tell a wrong password from an unknown
 * address.
 */
export async function signInWithPassword(
  ctx: Context,
  { cookie, source }: Visitor,
  email: string,
  password: string,
): Promise<SignIn | null> {
  const attempt = await throttleAttempt(ctx, email, source);
  const user = await findUserByEmail(ctx.db, email);
  if (!(await verifyPassword(ctx, user?.password_hash, password)) || user === undefined) {
    await recordFailedSignIn(ctx.db, user?.id ?? null);
    return null;
  }
  await attempt.succeed();
  let verifiedHash = user.password_hash;
  if (verifiedHash !== null && needsRehash(verifiedHash)) {
    const current = await hashPassword(ctx, password);
    await replacePasswordHash(ctx.db, user.id, { old: verifiedHash, current });
    verifiedHash = current;
  }
  const signIn = await ctx.db.transaction().execute(async (tx): Promise<SignIn | null> => {
    const current = await lockAccount(tx, user.id);
    const isUnchanged = current?.password_hash === verifiedHash;
    if (!isUnchanged && !(await verifyPassword(ctx, current?.password_hash, password))) return null;
    if (await hasSecondFactor(tx, user.id)) {
      const newCookie = newSecret(ctx.random);
      await endSession(tx, cookie);
      await deletePendingSignIn(tx, hashSecret(cookie));
      await insertPendingSignIn(tx, hashSecret(newCookie), user.id);
      return { outcome: 'needs_code', cookie: newCookie };
    }
    await noteSignIn(ctx, tx, user, source);
    const authentication = { method: 'password', secondFactor: null } as const;
    return {
      outcome: 'done',
      cookie: await startSession(ctx, tx, { cookie, source }, user.id, authentication),
    };
  });
  if (signIn === null) await recordFailedSignIn(ctx.db, user.id);
  return signIn;
}

/** Returns whether this browser has sent the correct password and must still send a code. */
export async function isCodePending({ db }: Context, { cookie }: Visitor): Promise<boolean> {
  return (await findPendingUser(db, hashSecret(cookie))) !== null;
}

export type CodeSignIn =
  | { outcome: 'done'; cookie: string }
  | { outcome: 'wrong_code' }
  | { outcome: 'gone' };

/** Completes a sign-in with a code from the authenticator app or a recovery code. */
export async function completeSignIn(
  ctx: Context,
  { cookie, source }: Visitor,
  code: string,
): Promise<CodeSignIn> {
  const hash = hashSecret(cookie);
  const userId = await countPendingAttempt(ctx.db, hash);
  const user = userId === null ? undefined : await findUser(ctx.db, userId);
  if (user === undefined) return { outcome: 'gone' };
  const attempt = await throttleCode(ctx, user.email, source);
  const signIn = await ctx.db.transaction().execute(async (tx): Promise<CodeSignIn> => {
    await lockAccount(tx, user.id);
    const secondFactor = await consumeSecondFactor(ctx, tx, user.id, code);
    if (secondFactor === null) return { outcome: 'wrong_code' };
    if (!(await deletePendingSignIn(tx, hash))) return { outcome: 'gone' };
    await noteSignIn(ctx, tx, user, source);
    const authentication = { method: 'password', secondFactor } as const;
    return {
      outcome: 'done',
      cookie: await startSession(ctx, tx, { cookie, source }, user.id, authentication),
    };
  });
  if (signIn.outcome === 'done') await attempt.succeed();
  if (signIn.outcome === 'wrong_code') await recordFailedSignIn(ctx.db, user.id);
  return signIn;
}
