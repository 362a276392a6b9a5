import { sql } from 'kysely';
import type { Context } from '../context.ts';
import type { Db } from '../db/pool.ts';
import { newId } from '../http/ids.ts';
import type { Mail } from './mail.ts';

export const MAIL_CHANNEL = 'mail_outbox';

/** A mail handed out for one attempt; nobody else gets it before `LEASE` is over. */
export type Attempt = { id: string; mail: Mail; attempts: number };

/** Longer than any timeout of an attempt, doubled with each: 1, 2, 4 … minutes, an hour at most. */
const LEASE = "least(interval '1 minute' * power(2, least(attempts, 6)), interval '1 hour')";

/** Writes a mail in the transaction of what it tells; it leaves after the commit, and a crash does not lose it. */
export async function sendMail(ctx: Context, db: Db, mail: Mail): Promise<void> {
  const id = newId(ctx.clock, ctx.random);
  const sealed = ctx.sealing.seal('mail', Buffer.from(JSON.stringify(mail)), id);
  await db.insertInto('mail_outbox').values({ id, mail: sealed }).execute();
  await sql`select pg_notify(${MAIL_CHANNEL}, '')`.execute(db);
}

export async function takeMailToSend(ctx: Context): Promise<Attempt | null> {
  const { rows } = await sql<{ id: string; mail: Buffer; attempts: number }>`
    update mail_outbox set attempts = attempts + 1, next_attempt_at = now() + ${sql.raw(LEASE)}
    where id = (select id from mail_outbox where next_attempt_at <= now() order by next_attempt_at
      for update skip locked limit 1)
    returning id, mail, attempts`.execute(ctx.db);
  const row = rows[0];
  if (row === undefined) return null;
  const mail = JSON.parse(ctx.sealing.open('mail', row.mail, row.id).toString());
  return { id: row.id, mail, attempts: row.attempts };
}

export async function deleteMail(db: Db, id: string): Promise<void> {
  await db.deleteFrom('mail_outbox').where('id', '=', id).execute();
}
