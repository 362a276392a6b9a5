import { sql } from 'kysely';
import type { Db } from '../../platform/db/pool.ts';
import { erasedAddressOf } from './email.ts';

/** Puts a user on hold. Returns false if the user is already on hold. */
export async function insertHold(
  tx: Db,
  hold: { id: string; user_id: string; reason: string; held_at: string },
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('users')
    .set({ held_at: hold.held_at })
    .where('id', '=', hold.user_id)
    .where('held_at', 'is', null)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) return false;
  await tx.insertInto('user_holds').values(hold).execute();
  return true;
}

/** Ends a user's hold. Returns false if the user is not on hold. */
export async function endHold(tx: Db, userId: string, reason: string, now: string): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('users')
    .set({ held_at: null })
    .where('id', '=', userId)
    .where('held_at', 'is not', null)
    .executeTakeFirst();
  await tx
    .updateTable('user_holds')
    .set({ release_reason: reason, released_at: now })
    .where('user_id', '=', userId)
    .where('released_at', 'is', null)
    .execute();
  return numUpdatedRows === 1n;
}

export async function listHolds(db: Db, userId: string) {
  return db
    .selectFrom('user_holds')
    .select(['reason', 'held_at', 'release_reason', 'released_at'])
    .where('user_id', '=', userId)
    .orderBy('held_at', 'desc')
    .execute();
}

export async function isHeldUser(db: Db, userId: string): Promise<boolean> {
  const { rows } = await sql`select from users where id = ${userId} and held_at is not null`.execute(db);
  return rows.length > 0;
}

export async function isErasedUser(db: Db, userId: string): Promise<boolean> {
  const { rows } = await sql`
    select from users where id = ${userId} and email = ${erasedAddressOf(userId)}`.execute(db);
  return rows.length > 0;
}

type AccountState = { isHeld: boolean; isErased: boolean };

/**
 * Returns whether the account is on hold and whether it is erased. Locks the user, so that neither state can change
 * until the transaction ends. Several transactions can have a `share` lock at the same time.
 */
export async function lockAccountState(
  tx: Db,
  userId: string,
  lock: 'share' | 'no key update',
): Promise<AccountState> {
  const { rows } = await sql<AccountState>`
    select held_at is not null as "isHeld", email = ${erasedAddressOf(userId)} as "isErased"
    from users where id = ${userId} for ${sql.raw(lock)}`.execute(tx);
  return rows[0] ?? { isHeld: false, isErased: false };
}

/** Locks the users, so that no hold can be placed on them until the transaction ends. Returns the users on hold. */
export async function lockHeldUsers(tx: Db, userIds: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ id: string; is_held: boolean }>`
    select id, held_at is not null as is_held from users where id = any(${userIds}::uuid[])
    order by id for no key update`.execute(tx);
  return rows.filter(({ is_held }) => is_held).map(({ id }) => id);
}
