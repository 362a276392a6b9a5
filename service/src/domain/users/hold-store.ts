import { CompiledQuery, sql } from 'kysely';
import { fixedSql, queryRows } from '../../platform/db/fixed-sql.ts';
import type { Db, Queryable } from '../../platform/db/pool.ts';
import { newStep, type Step } from '../../platform/db/together.ts';
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

export async function isHeldUser(statements: Queryable, userId: string): Promise<boolean> {
  const query = fixedSql`select from users where id = ${userId} and held_at is not null`;
  return (await queryRows(statements, query)).length > 0;
}

export async function isErasedUser(db: Db, userId: string): Promise<boolean> {
  const { rows } = await sql`
    select from users where id = ${userId} and email = ${erasedAddressOf(userId)}`.execute(db);
  return rows.length > 0;
}

export type AccountState = { isHeld: boolean; isErased: boolean };

const ACCOUNT_STATE = `select held_at is not null as "isHeld", email = $1 as "isErased" from users where id = $2`;
const LOCK_STATE = {
  share: `${ACCOUNT_STATE} for share`,
  'no key update': `${ACCOUNT_STATE} for no key update`,
};

/**
 * Returns whether the account is on hold and whether it is erased. Locks the user, so that neither state can change
 * until the transaction ends. Several transactions can have a `share` lock at the same time.
 */
export function accountStateLock(userId: string, lock: keyof typeof LOCK_STATE): Step<AccountState> {
  const query = CompiledQuery.raw(LOCK_STATE[lock], [erasedAddressOf(userId), userId]);
  return newStep(
    query as CompiledQuery<AccountState>,
    ([state]) => state ?? { isHeld: false, isErased: false },
  );
}

/** Locks the users, so that no hold can be placed on them until the transaction ends. Returns the users on hold. */
export async function lockHeldUsers(tx: Db, userIds: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ id: string; is_held: boolean }>`
    select id, held_at is not null as is_held from users where id = any(${userIds}::uuid[])
    order by id for no key update`.execute(tx);
  return rows.filter(({ is_held }) => is_held).map(({ id }) => id);
}
