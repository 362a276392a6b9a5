import type { Context } from '../context.ts';
import type { Db } from '../db/pool.ts';
import { hashSecret, newSecret } from '../secret-hash.ts';
import {
  deleteSession,
  deleteSessionsOf,
  findSession,
  insertSession,
  type Session,
  type SignInMethod,
} from './session-store.ts';

export type { Session };

/**
 * Signs a browser in and returns its new cookie. The previous cookie becomes invalid, so a cookie planted by an
 * attacker never turns into a session (session fixation).
 */
export async function startSession(
  { random }: Pick<Context, 'random'>,
  db: Db,
  previousCookie: string,
  userId: string,
  method: SignInMethod,
): Promise<string> {
  const cookie = newSecret(random);
  await endSession(db, previousCookie);
  await insertSession(db, hashSecret(cookie), userId, method);
  return cookie;
}

export function readSession({ db }: Pick<Context, 'db'>, cookie: string): Promise<Session | null> {
  return findSession(db, hashSecret(cookie));
}

export async function endSession(db: Db, cookie: string): Promise<void> {
  await deleteSession(db, hashSecret(cookie));
}

/** Signs the user out of every browser. */
export async function endSessionsOf(db: Db, userId: string): Promise<void> {
  await deleteSessionsOf(db, userId);
}
