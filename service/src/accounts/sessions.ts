import { sql } from 'kysely';
import type { Context } from '../context.ts';
import type { Db } from '../db/pool.ts';
import { hashSecret, newSecret } from './secrets.ts';
import type { User } from './store.ts';

/** A signed-in browser. */
export type Session = { user: User; method: SignInMethod; signed_in_at: string };

export type SignInMethod = 'password' | 'passkey';

const LIFE = '12 hours';

/**
 * Signs a browser in and returns its new cookie. The cookie it came with is worth nothing afterwards, so that
 * one planted by somebody else never becomes a session.
 */
export async function startSession(
  ctx: Context,
  db: Db,
  before: string,
  userId: string,
  method: SignInMethod,
): Promise<string> {
  const secret = newSecret(ctx.random);
  await endSession(db, before);
  await sql`
    insert into browser_sessions (hash, user_id, method, signed_in_at, expires_at)
    values (${hashSecret(secret)}, ${userId}, ${method}, clock_timestamp(), clock_timestamp() + ${LIFE}::interval)`.execute(
    db,
  );
  return secret;
}

export async function readSession(ctx: Context, secret: string): Promise<Session | null> {
  const row = await ctx.db
    .selectFrom('browser_sessions as s')
    .innerJoin('users as u', 'u.id', 's.user_id')
    .select(['u.id', 'u.email', 'u.kind', 's.method', 's.signed_in_at'])
    .where('s.hash', '=', hashSecret(secret))
    .where('s.expires_at', '>', sql<string>`now()`)
    .executeTakeFirst();
  if (row === undefined) return null;
  const { method, signed_in_at, ...user } = row;
  return { user, method, signed_in_at };
}

export async function endSession(db: Db, secret: string): Promise<void> {
  await db.deleteFrom('browser_sessions').where('hash', '=', hashSecret(secret)).execute();
}

export async function endSessionsOf(db: Db, userId: string): Promise<void> {
  await db.deleteFrom('browser_sessions').where('user_id', '=', userId).execute();
}
