import { ApiError } from '../../kernel/errors.ts';
import { newSecret } from '../../kernel/secret-hash.ts';
import { recordDecision } from '../../platform/audit/store.ts';
import type { Context } from '../../platform/context/context.ts';
import type { Db } from '../../platform/db/pool.ts';
import { lockAccount } from '../users/store.ts';
import { describeNetwork } from './device.ts';
import { deleteLinksOf } from './mail-link-store.ts';
import {
  type Authentication,
  deleteSession,
  deleteSessionOf,
  deleteSessionsOf,
  hasSession,
  insertSession,
  type Session,
  setSessionCookie,
} from './session-store.ts';
import type { Source } from './throttle.ts';

/**
 * Locks the session's account. Call this before you change the account for the session's user. Throws `unauthorized` if
 * the session has ended since the request began. This way, a password reset or "Sign out everywhere" stops every change
 * that has not been committed yet.
 */
export async function lockSession(tx: Db, { id, user }: Pick<Session, 'id' | 'user'>): Promise<void> {
  await lockAccount(tx, user.id);
  if (!(await hasSession(tx, id))) throw new ApiError('unauthorized');
}

/**
 * Signs a browser in and returns its new cookie. The caller must have locked the account. The previous cookie
 * becomes invalid, so a cookie planted by an attacker never turns into a session (session fixation).
 */
export async function startSession(
  { random }: Pick<Context, 'random'>,
  db: Db,
  { cookie, source }: { cookie: string; source: Source },
  userId: string,
  authentication: Authentication,
): Promise<string> {
  const newCookie = newSecret(random);
  await deleteSession(db, cookie);
  const network = describeNetwork(source.network);
  await insertSession(db, newCookie, {
    ...authentication,
    ...{ userId, browser: source.browser, network },
  });
  return newCookie;
}

/** Ends the user's other sessions and pending sign-ins. Returns a new cookie; the session keeps its sign-in time. */
export async function keepOnlySession(
  { random }: Pick<Context, 'random'>,
  tx: Db,
  { id, user }: Pick<Session, 'id' | 'user'>,
): Promise<string> {
  const newCookie = newSecret(random);
  await setSessionCookie(tx, id, newCookie);
  await deleteSessionsOf(tx, user.id, id);
  return newCookie;
}

/** Signs the user out of one browser, not necessarily this one. Does nothing if the session has ended. */
export async function revokeSession(
  { db, requestId }: Pick<Context, 'db' | 'requestId'>,
  userId: string,
  sessionId: string,
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    if (!(await deleteSessionOf(tx, userId, sessionId))) return;
    await recordDecision(tx, {
      ...{ actor: { object: 'user', id: userId }, requestId },
      ...{ action: 'user.session_ended', reason: 'user_request' },
      subject: { object: 'session', id: sessionId },
    });
  });
}

/** Signs the user out of every browser, this one included. Connected apps keep their access. */
export async function signOutEverywhere(
  { db, requestId }: Pick<Context, 'db' | 'requestId'>,
  userId: string,
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await lockAccount(tx, userId);
    await deleteSessionsOf(tx, userId);
    // Cancels a pending change of the email address, because an intruder in one of these sessions may have requested
    // it.
    await deleteLinksOf(tx, userId, 'change_email');
    await recordDecision(tx, {
      ...{ actor: { object: 'user', id: userId }, requestId },
      ...{ action: 'user.signed_out_everywhere', reason: 'user_request' },
      subject: { object: 'user', id: userId },
    });
  });
}
