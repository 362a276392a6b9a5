import { sql } from 'kysely';
import { isId } from '../../kernel/ids.ts';
import type { UserKind } from '../../kernel/model/personal-data.ts';
import type { Db } from '../../platform/db/pool.ts';
import { erasedAddressOf, normalizeEmail } from './user.ts';

export type User = {
  id: string;
  email: string;
  kind: UserKind;
  /** The language of the user's emails. Null means the default language. */
  locale: string | null;
};

type NewUser = Omit<User, 'locale'> & { locale?: string | null; password_hash: string | null };

/** The SQL form of `normalizeEmail`. */
const EMAIL_KEY = sql<string>`lower(email collate "C")`;

const USER_COLUMNS = ['id', 'email', 'kind', 'locale'] as const;

export async function insertUser(db: Db, user: NewUser): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('users')
    .values({ ...user, email: user.email.normalize('NFC') })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

export async function findUser(db: Db, id: string): Promise<User | undefined> {
  return db.selectFrom('users').select(USER_COLUMNS).where('id', '=', id).executeTakeFirst();
}

export async function findUserByEmail(db: Db, email: string) {
  return db
    .selectFrom('users')
    .select([...USER_COLUMNS, 'password_hash'])
    .where(EMAIL_KEY, '=', normalizeEmail(email))
    .executeTakeFirst();
}

export async function lockUser(
  tx: Db,
  idOrEmail: string,
): Promise<{ id: string; email: string } | undefined> {
  return matchUser(tx, idOrEmail).select(['id', 'email']).forUpdate().executeTakeFirst();
}

/**
 * Locks the user's row until the transaction ends. Other transactions can still insert rows that reference the user. To
 * avoid deadlocks, take this lock before you change passkeys, sessions, links or the second factor.
 */
export async function lockAccount(tx: Db, idOrEmail: string) {
  return matchUser(tx, idOrEmail)
    .select([...USER_COLUMNS, 'password_hash'])
    .forNoKeyUpdate()
    .executeTakeFirst();
}

function matchUser(db: Db, idOrEmail: string) {
  return db
    .selectFrom('users')
    .where((eb) =>
      isId(idOrEmail) ? eb('id', '=', idOrEmail) : eb(EMAIL_KEY, '=', normalizeEmail(idOrEmail)),
    );
}

/** Replaces an outdated hash of the same password, unless the password has changed in the meantime. */
export async function replacePasswordHash(
  db: Db,
  userId: string,
  { old, current }: { old: string; current: string },
): Promise<void> {
  await sql`update users set password_hash = ${current}
    where id = ${userId} and password_hash = ${old} and set_config('causeway.rehash', 'on', true) = 'on'`.execute(
    db,
  );
}

export async function setPasswordHash(db: Db, userId: string, passwordHash: string): Promise<void> {
  await db.updateTable('users').set({ password_hash: passwordHash }).where('id', '=', userId).execute();
}

export async function setEmail(db: Db, userId: string, email: string): Promise<boolean> {
  const { rows } = await sql`update users set email = ${email.normalize('NFC')} where id = ${userId}
    and not exists (select from users where id <> ${userId} and ${EMAIL_KEY} = ${normalizeEmail(email)})
    returning id`.execute(db);
  return rows.length > 0;
}

export async function setLocale(db: Db, userId: string, locale: string): Promise<void> {
  await db.updateTable('users').set({ locale }).where('id', '=', userId).execute();
}

/** Replaces the address with a unique placeholder and removes the password. Other tables keep pointing at the row. */
export async function anonymizeUser(db: Db, userId: string): Promise<void> {
  await sql`update users set email = ${erasedAddressOf(userId)}, password_hash = null, locale = null
    where id = ${userId}`.execute(db);
}

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

/** Returns whether the account was erased. Nothing new may be stored for an erased account. */
export async function isErasedUser(db: Db, userId: string): Promise<boolean> {
  const { rows } = await sql`
    select from users where id = ${userId} and email = ${erasedAddressOf(userId)}`.execute(db);
  return rows.length > 0;
}

export type AccountState = { isHeld: boolean; isErased: boolean };

/** Neither state can change until the transaction ends. Several transactions can have a `share` lock at once. */
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
