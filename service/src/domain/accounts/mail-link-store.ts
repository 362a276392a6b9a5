import { sql } from 'kysely';
import type { UserKind } from '../../kernel/model/personal-data.ts';
import { hashSecret, newSecret } from '../../kernel/secret-hash.ts';
import type { Context } from '../../platform/context/context.ts';
import { deleteInBatches } from '../../platform/db/delete-in-batches.ts';
import type { Db } from '../../platform/db/pool.ts';

type LinkPurpose = 'confirm' | 'reset' | 'change_email';

const CONFIRM_LINK_TTL = '24 hours';
const RESET_LINK_TTL = '1 hour';
const CHANGE_EMAIL_LINK_TTL = '1 hour';

type Parts = Pick<Context, 'random' | 'sealing'>;

/** A registration whose email address is not confirmed yet. It is stored in sealed form, together with the link. */
export type Registration = { email: string; kind: UserKind; passwordHash: string; locale?: string };

/** `browser`: the hash of the cookie of the browser that started the registration. */
type ConfirmLink = { registration: Registration; browser: Buffer | null; continueTo: string | null };

export async function createConfirmLink(
  { random, sealing }: Parts,
  tx: Db,
  link: { registration: Registration; cookie: string; continueTo: string | null },
): Promise<string> {
  const secret = newSecret(random);
  const hash = hashSecret(secret);
  const plain = Buffer.from(JSON.stringify(link.registration));
  const registration = sealing.seal('registration', plain, hash.toString('hex'));
  await sql`
    insert into mail_links (hash, purpose, registration, browser, continue_to, expires_at)
    values (${hash}, 'confirm', ${registration}, ${hashSecret(link.cookie)}, ${link.continueTo},
      now() + ${CONFIRM_LINK_TTL}::interval)`.execute(tx);
  return secret;
}

/** Creates a link that sets a new password, and returns its secret. Replaces the user's older password reset links. */
export async function createResetLink({ random }: Parts, tx: Db, userId: string): Promise<string> {
  const secret = newSecret(random);
  await deleteLinksOf(tx, userId, 'reset');
  await sql`
    insert into mail_links (hash, purpose, user_id, expires_at)
    values (${hashSecret(secret)}, 'reset', ${userId}, now() + ${RESET_LINK_TTL}::interval)`.execute(tx);
  return secret;
}

/** Creates a link that confirms the user's new address and replaces the user's older ones. Returns its secret. */
export async function createChangeEmailLink(
  { random, sealing }: Parts,
  tx: Db,
  userId: string,
  email: string,
): Promise<string> {
  const secret = newSecret(random);
  const hash = hashSecret(secret);
  const address = sealing.seal('new address', Buffer.from(email), hash.toString('hex'));
  await deleteLinksOf(tx, userId, 'change_email');
  await sql`
    insert into mail_links (hash, purpose, user_id, registration, expires_at)
    values (${hash}, 'change_email', ${userId}, ${address}, now() + ${CHANGE_EMAIL_LINK_TTL}::interval)`.execute(
    tx,
  );
  return secret;
}

/** Returns the address that the link confirms, or null if the link has expired, was used or belongs to another user. */
export async function findNewAddress(
  { db, sealing }: Pick<Context, 'db' | 'sealing'>,
  userId: string,
  secret: string,
): Promise<string | null> {
  const hash = hashSecret(secret);
  const row = await openLinks(db, 'change_email', hash)
    .select('registration')
    .where('user_id', '=', userId)
    .executeTakeFirst();
  if (!row?.registration) return null;
  return sealing.open('new address', row.registration, hash.toString('hex')).toString();
}

/** Reads the link without consuming it, because mail scanners open every link in an email. */
export async function findConfirmLink(
  { db, sealing }: Pick<Context, 'db' | 'sealing'>,
  secret: string,
): Promise<ConfirmLink | null> {
  const hash = hashSecret(secret);
  const row = await openLinks(db, 'confirm', hash)
    .select(['registration', 'browser', 'continue_to'])
    .executeTakeFirst();
  if (!row?.registration) return null;
  const plain = sealing.open('registration', row.registration, hash.toString('hex'));
  return { registration: JSON.parse(plain.toString()), browser: row.browser, continueTo: row.continue_to };
}

export async function findResetLink(
  { db }: { db: Db },
  secret: string,
): Promise<{ userId: string; email: string } | null> {
  const row = await openLinks(db, 'reset', hashSecret(secret))
    .innerJoin('users as u', 'u.id', 'user_id')
    .select(['u.id as userId', 'u.email'])
    .executeTakeFirst();
  return row ?? null;
}

function openLinks(db: Db, purpose: LinkPurpose, hash: Buffer) {
  return db
    .selectFrom('mail_links')
    .where('hash', '=', hash)
    .where('purpose', '=', purpose)
    .where('expires_at', '>', sql<string>`now()`);
}

/** Deletes the link. Only one of several concurrent calls returns true. */
export async function consumeLink(tx: Db, purpose: LinkPurpose, secret: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('mail_links')
    .where('hash', '=', hashSecret(secret))
    .where('purpose', '=', purpose)
    .where('expires_at', '>', sql<string>`now()`)
    .executeTakeFirst();
  return numDeletedRows === 1n;
}

export async function deleteLinksOf(db: Db, userId: string, purpose?: LinkPurpose): Promise<void> {
  const links = db.deleteFrom('mail_links').where('user_id', '=', userId);
  await (purpose === undefined ? links : links.where('purpose', '=', purpose)).execute();
}

export async function deleteExpiredLinks({ db }: { db: Db }): Promise<void> {
  await deleteInBatches(db, 'mail_links', sql`expires_at < now()`);
}
