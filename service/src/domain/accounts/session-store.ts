import { sql } from 'kysely';
import { realTime } from '../../kernel/clock.ts';
import { hashSecret } from '../../kernel/secret-hash.ts';
import { deleteInBatches } from '../../platform/db/delete-in-batches.ts';
import type { Db } from '../../platform/db/pool.ts';
import type { User } from '../users/store.ts';

type SignInMethod = 'password' | 'passkey';
export type SecondFactor = 'totp' | 'recovery_code';

export type Authentication = { method: SignInMethod; secondFactor: SecondFactor | null };

export type Session = Authentication & {
  id: string;
  user: User;
  signed_in_at: string;
  isRecent: boolean;
  /** Whether the recorded last use is old enough to be updated. */
  isUseStale: boolean;
};

type ListedSession = {
  id: string;
  browser: string | null;
  network: string;
  method: SignInMethod;
  signed_in_at: string;
  used_at: string;
};

const SESSION_TTL = '12 hours';
/** How long a sign-in counts as recent. Sensitive actions, such as changing the password, require a recent sign-in. */
const RECENT = '5 minutes';
/** The recorded last use is updated at most this often, to save writes. */
const USE_PRECISION = '1 minute';

/**
 * `signed_in_at` is by the node's clock, because a request for a fresh sign-in is, too. Everything else about a session is
 * by the database's clock.
 */
export async function insertSession(
  db: Db,
  cookie: string,
  session: Authentication & { userId: string; browser: string | null; network: string },
): Promise<void> {
  const { userId, method, secondFactor, browser, network } = session;
  await sql`
    insert into browser_sessions (hash, user_id, method, second_factor, browser, network, signed_in_at, expires_at)
    values (${hashSecret(cookie)}, ${userId}, ${method}, ${secondFactor}, ${browser}, ${network}, to_timestamp(${realTime() / 1000}),
      clock_timestamp() + ${SESSION_TTL}::interval)`.execute(db);
}

export async function findSession(db: Db, cookie: string): Promise<Session | null> {
  const row = await db
    .selectFrom('browser_sessions as s')
    .innerJoin('users as u', 'u.id', 's.user_id')
    .select(['u.id as userId', 'u.email', 'u.kind', 'u.locale'])
    .select(['s.id', 's.method', 's.second_factor as secondFactor', 's.signed_in_at'])
    // The expiry tells when the session began by the database's clock.
    .select(
      sql<boolean>`s.expires_at > now() + ${SESSION_TTL}::interval - ${RECENT}::interval`.as('isRecent'),
    )
    .select(sql<boolean>`s.used_at < now() - ${USE_PRECISION}::interval`.as('isUseStale'))
    .where('s.hash', '=', hashSecret(cookie))
    .where('s.expires_at', '>', sql<string>`now()`)
    .executeTakeFirst();
  if (row === undefined) return null;
  const { userId, email, kind, locale, ...session } = row;
  return { ...session, user: { id: userId, email, kind, locale } };
}

/** Records a use of the session. Only one of several concurrent calls writes. */
export async function touchSession(db: Db, id: string): Promise<void> {
  await sql`update browser_sessions set used_at = now()
    where id = ${id} and used_at < now() - ${USE_PRECISION}::interval`.execute(db);
}

/** Lists the browsers in which the user is signed in, most recently used first. */
export async function listSessions(db: Db, userId: string): Promise<ListedSession[]> {
  return db
    .selectFrom('browser_sessions')
    .select(['id', 'browser', 'network', 'method', 'signed_in_at', 'used_at'])
    .where('user_id', '=', userId)
    .where('expires_at', '>', sql<string>`now()`)
    .orderBy('used_at', 'desc')
    .execute();
}

export async function hasSession(db: Db, id: string): Promise<boolean> {
  const row = await db
    .selectFrom('browser_sessions')
    .select('id')
    .where('id', '=', id)
    .where('expires_at', '>', sql<string>`now()`)
    .executeTakeFirst();
  return row !== undefined;
}

/** Gives the session a new cookie. The time and method of the sign-in stay the same. */
export async function setSessionCookie(db: Db, id: string, cookie: string): Promise<void> {
  const hash = hashSecret(cookie);
  await db.updateTable('browser_sessions').set({ hash }).where('id', '=', id).execute();
}

export async function deleteSession(db: Db, cookie: string): Promise<void> {
  await db.deleteFrom('browser_sessions').where('hash', '=', hashSecret(cookie)).execute();
}

export async function deleteSessionOf(db: Db, userId: string, id: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('browser_sessions')
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return numDeletedRows === 1n;
}

/** Pending sign-ins of the user, which still need a code, are deleted too. */
export async function deleteSessionsOf(db: Db, userId: string, keptId?: string): Promise<void> {
  const sessions = db.deleteFrom('browser_sessions').where('user_id', '=', userId);
  await (keptId === undefined ? sessions : sessions.where('id', '<>', keptId)).execute();
  await db.deleteFrom('pending_sign_ins').where('user_id', '=', userId).execute();
}

export async function deleteExpiredSessions({ db }: { db: Db }): Promise<void> {
  await deleteInBatches(db, 'browser_sessions', sql`expires_at < now()`);
  await deleteInBatches(db, 'pending_sign_ins', sql`expires_at < now()`);
}

const PENDING_TTL = '10 minutes';
const MAX_ATTEMPTS = 5;

export async function insertPendingSignIn(db: Db, cookie: string, userId: string): Promise<void> {
  await sql`insert into pending_sign_ins (hash, user_id, expires_at)
    values (${hashSecret(cookie)}, ${userId}, now() + ${PENDING_TTL}::interval)`.execute(db);
}

export async function findPendingUser(db: Db, cookie: string): Promise<string | null> {
  const { rows } = await sql<{ user_id: string }>`select user_id from pending_sign_ins
    where hash = ${hashSecret(cookie)} and expires_at > now() and attempts < ${MAX_ATTEMPTS}`.execute(db);
  return rows[0]?.user_id ?? null;
}

/** Counts an attempt. Returns the user, or null if the sign-in has expired or too many codes were wrong. */
export async function countPendingAttempt(db: Db, cookie: string): Promise<string | null> {
  const { rows } = await sql<{ user_id: string }>`update pending_sign_ins set attempts = attempts + 1
    where hash = ${hashSecret(cookie)} and expires_at > now() and attempts < ${MAX_ATTEMPTS} returning user_id`.execute(
    db,
  );
  return rows[0]?.user_id ?? null;
}

/** Deletes the pending sign-in. Only one of several concurrent calls returns true. */
export async function deletePendingSignIn(db: Db, cookie: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('pending_sign_ins')
    .where('hash', '=', hashSecret(cookie))
    .executeTakeFirst();
  return numDeletedRows === 1n;
}
