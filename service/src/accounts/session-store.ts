import { sql } from 'kysely';
import { deleteInBatches } from '../db/delete-in-batches.ts';
import type { Db } from '../db/pool.ts';
import type { User } from './store.ts';

export type SignInMethod = 'password' | 'passkey';

/** A signed-in browser. */
export type Session = { user: User; method: SignInMethod; signed_in_at: string; isRecent: boolean };

const SESSION_TTL = '12 hours';
/** How long after a sign-in the user may change sign-in methods. */
const RECENT = '5 minutes';

export async function insertSession(
  db: Db,
  hash: Buffer,
  userId: string,
  method: SignInMethod,
): Promise<void> {
  await sql`
    insert into browser_sessions (hash, user_id, method, signed_in_at, expires_at)
    values (${hash}, ${userId}, ${method}, clock_timestamp(), clock_timestamp() + ${SESSION_TTL}::interval)`.execute(
    db,
  );
}

export async function findSession(db: Db, hash: Buffer): Promise<Session | null> {
  const row = await db
    .selectFrom('browser_sessions as s')
    .innerJoin('users as u', 'u.id', 's.user_id')
    .select(['u.id', 'u.email', 'u.kind', 'u.locale', 's.method', 's.signed_in_at'])
    .select(sql<boolean>`s.signed_in_at > now() - ${RECENT}::interval`.as('isRecent'))
    .where('s.hash', '=', hash)
    .where('s.expires_at', '>', sql<string>`now()`)
    .executeTakeFirst();
  if (row === undefined) return null;
  const { method, signed_in_at, isRecent, ...user } = row;
  return { user, method, signed_in_at, isRecent };
}

export async function deleteSession(db: Db, hash: Buffer): Promise<void> {
  await db.deleteFrom('browser_sessions').where('hash', '=', hash).execute();
}

export async function deleteSessionsOf(db: Db, userId: string): Promise<void> {
  await db.deleteFrom('browser_sessions').where('user_id', '=', userId).execute();
}

export async function deleteExpiredSessions({ db }: { db: Db }): Promise<void> {
  await deleteInBatches(db, 'browser_sessions', sql`expires_at < now()`);
}
