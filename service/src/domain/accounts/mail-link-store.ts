import { sql } from 'kysely';
import { deleteInBatches } from '../../platform/db/delete-in-batches.ts';
import type { Db } from '../../platform/db/pool.ts';

export type LinkPurpose = 'confirm' | 'reset' | 'change_email';

const CONFIRM_LINK_TTL = '24 hours';
const RESET_LINK_TTL = '1 hour';
const CHANGE_EMAIL_LINK_TTL = '1 hour';

type ConfirmLinkRow = {
  hash: Buffer;
  /** The sealed registration. */
  registration: Buffer;
  /** The hash of the cookie of the browser that started the registration. */
  browser: Buffer;
  continue_to: string | null;
};

export async function insertConfirmLink(db: Db, link: ConfirmLinkRow): Promise<void> {
  const { hash, registration, browser, continue_to } = link;
  await sql`
    insert into mail_links (hash, purpose, registration, browser, continue_to, expires_at)
    values (${hash}, 'confirm', ${registration}, ${browser}, ${continue_to}, now() + ${CONFIRM_LINK_TTL}::interval)`.execute(
    db,
  );
}

/** Stores a link that sets a new password. The link replaces the user's older password reset links. */
export async function insertResetLink(db: Db, hash: Buffer, userId: string): Promise<void> {
  await deleteLinksOf(db, userId, 'reset');
  await sql`
    insert into mail_links (hash, purpose, user_id, expires_at)
    values (${hash}, 'reset', ${userId}, now() + ${RESET_LINK_TTL}::interval)`.execute(db);
}

/** Stores a link that confirms a new address. The link replaces the user's older links of this kind. */
export async function insertChangeEmailLink(
  db: Db,
  { hash, userId, address }: { hash: Buffer; userId: string; address: Buffer },
): Promise<void> {
  await deleteLinksOf(db, userId, 'change_email');
  await sql`
    insert into mail_links (hash, purpose, user_id, registration, expires_at)
    values (${hash}, 'change_email', ${userId}, ${address}, now() + ${CHANGE_EMAIL_LINK_TTL}::interval)`.execute(
    db,
  );
}

export async function findChangeEmailLink(db: Db, hash: Buffer, userId: string): Promise<Buffer | null> {
  const row = await db
    .selectFrom('mail_links')
    .select('registration')
    .where('hash', '=', hash)
    .where('purpose', '=', 'change_email')
    .where('user_id', '=', userId)
    .where('expires_at', '>', sql<string>`now()`)
    .executeTakeFirst();
  return row?.registration ?? null;
}

export async function findConfirmLink(db: Db, hash: Buffer) {
  return db
    .selectFrom('mail_links')
    .select(['registration', 'browser', 'continue_to'])
    .where('hash', '=', hash)
    .where('purpose', '=', 'confirm')
    .where('expires_at', '>', sql<string>`now()`)
    .executeTakeFirst();
}

export async function findResetLink(
  db: Db,
  hash: Buffer,
): Promise<{ userId: string; email: string } | undefined> {
  return db
    .selectFrom('mail_links as l')
    .innerJoin('users as u', 'u.id', 'l.user_id')
    .select(['u.id as userId', 'u.email'])
    .where('l.hash', '=', hash)
    .where('l.purpose', '=', 'reset')
    .where('l.expires_at', '>', sql<string>`now()`)
    .executeTakeFirst();
}

/** Deletes the link. Only one of several concurrent calls returns true. */
export async function consumeLink(db: Db, purpose: LinkPurpose, hash: Buffer): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('mail_links')
    .where('hash', '=', hash)
    .where('purpose', '=', purpose)
    .where('expires_at', '>', sql<string>`now()`)
    .executeTakeFirst();
  return numDeletedRows === 1n;
}

/** Deletes the user's links for `purpose`, or all of the user's links if no purpose is given. */
export async function deleteLinksOf(db: Db, userId: string, purpose?: LinkPurpose): Promise<void> {
  const links = db.deleteFrom('mail_links').where('user_id', '=', userId);
  await (purpose === undefined ? links : links.where('purpose', '=', purpose)).execute();
}

export async function deleteExpiredLinks({ db }: { db: Db }): Promise<void> {
  await deleteInBatches(db, 'mail_links', sql`expires_at < now()`);
}
