import { sql } from 'kysely';
import type { Context } from '../context.ts';
import type { Db } from '../db/pool.ts';
import { hashSecret, newSecret } from './secrets.ts';
import type { UserKind } from './store.ts';

/** Who wants to join: kept sealed in the link until the address is confirmed. */
export type Registration = { email: string; kind: UserKind; passwordHash: string };

export type ConfirmLink = { registration: Registration; browser: Buffer | null; continueTo: string | null };

const CONFIRM_LIFE = '24 hours';
const RESET_LIFE = '1 hour';

export async function insertConfirmLink(
  ctx: Context,
  db: Db,
  link: { registration: Registration; browser: string; continueTo: string | null },
): Promise<string> {
  const secret = newSecret(ctx.random);
  const hash = hashSecret(secret);
  const sealed = ctx.sealing.seal(
    'registration',
    Buffer.from(JSON.stringify(link.registration)),
    hash.toString('hex'),
  );
  await sql`
    insert into mail_links (hash, purpose, registration, browser, continue_to, expires_at)
    values (${hash}, 'confirm', ${sealed}, ${hashSecret(link.browser)}, ${link.continueTo}, now() + ${CONFIRM_LIFE}::interval)`.execute(
    db,
  );
  return secret;
}

/** A newer link for the same user replaces the older ones. */
export async function insertResetLink(ctx: Context, db: Db, userId: string): Promise<string> {
  const secret = newSecret(ctx.random);
  await db.deleteFrom('mail_links').where('user_id', '=', userId).execute();
  await sql`
    insert into mail_links (hash, purpose, user_id, expires_at)
    values (${hashSecret(secret)}, 'reset', ${userId}, now() + ${RESET_LIFE}::interval)`.execute(db);
  return secret;
}

/** Looks without using the link up: programs that read mail open every link in it. */
export async function findConfirmLink(ctx: Context, secret: string): Promise<ConfirmLink | null> {
  const row = await ctx.db
    .selectFrom('mail_links')
    .select(['hash', 'registration', 'browser', 'continue_to'])
    .where('hash', '=', hashSecret(secret))
    .where('purpose', '=', 'confirm')
    .where('expires_at', '>', sql<string>`now()`)
    .executeTakeFirst();
  if (!row?.registration) return null;
  const opened = ctx.sealing.open('registration', row.registration, row.hash.toString('hex'));
  return { registration: JSON.parse(opened.toString()), browser: row.browser, continueTo: row.continue_to };
}

export async function findResetLink(
  ctx: Context,
  secret: string,
): Promise<{ userId: string; email: string } | null> {
  const row = await ctx.db
    .selectFrom('mail_links as l')
    .innerJoin('users as u', 'u.id', 'l.user_id')
    .select(['u.id', 'u.email'])
    .where('l.hash', '=', hashSecret(secret))
    .where('l.expires_at', '>', sql<string>`now()`)
    .executeTakeFirst();
  return row === undefined ? null : { userId: row.id, email: row.email };
}

/** Uses the link up; of many at once, one gets true. */
export async function consumeLink(db: Db, purpose: 'confirm' | 'reset', secret: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('mail_links')
    .where('hash', '=', hashSecret(secret))
    .where('purpose', '=', purpose)
    .where('expires_at', '>', sql<string>`now()`)
    .executeTakeFirst();
  return numDeletedRows === 1n;
}
