import { sql } from 'kysely';
import type { Db } from '../../platform/db/pool.ts';

const PENDING_TTL = '10 minutes';
const MAX_ATTEMPTS = 5;

export async function insertPendingSignIn(db: Db, hash: Buffer, userId: string): Promise<void> {
  await sql`insert into pending_sign_ins (hash, user_id, expires_at)
    values (${hash}, ${userId}, now() + ${PENDING_TTL}::interval)`.execute(db);
}

/** Returns the user who must still enter a code to finish signing in on this browser, or null if there is none. */
export async function findPendingUser(db: Db, hash: Buffer): Promise<string | null> {
  const { rows } = await sql<{ user_id: string }>`select user_id from pending_sign_ins
    where hash = ${hash} and expires_at > now() and attempts < ${MAX_ATTEMPTS}`.execute(db);
  return rows[0]?.user_id ?? null;
}

/** Counts an attempt. Returns the user, or null if the sign-in has expired or too many codes were wrong. */
export async function countPendingAttempt(db: Db, hash: Buffer): Promise<string | null> {
  const { rows } = await sql<{ user_id: string }>`update pending_sign_ins set attempts = attempts + 1
    where hash = ${hash} and expires_at > now() and attempts < ${MAX_ATTEMPTS} returning user_id`.execute(db);
  return rows[0]?.user_id ?? null;
}

/** Deletes the pending sign-in. Only one of several concurrent calls returns true. */
export async function deletePendingSignIn(db: Db, hash: Buffer): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('pending_sign_ins')
    .where('hash', '=', hash)
    .executeTakeFirst();
  return numDeletedRows === 1n;
}
