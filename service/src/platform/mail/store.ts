import { sql } from 'kysely';
import { EMPTY_QUEUE, type QueueState } from '../../kernel/queue-state.ts';
import { notifyAfterCommit } from '../db/notify.ts';
import type { Db } from '../db/pool.ts';

export const MAIL_CHANNEL = 'mail_outbox';

type ClaimedMail = { id: string; mail: Buffer; attempts: number };

/**
 * 1, 2, 4 … minutes, at most an hour. No other worker gets the mail meanwhile, so every delay must be longer than an
 * attempt can take.
 */
const RETRY_DELAY = sql.raw("least(interval '1 minute' * power(2, least(attempts, 6)), interval '1 hour')");

export async function insertMail(db: Db, id: string, mail: Buffer): Promise<void> {
  await db.insertInto('mail_outbox').values({ id, mail }).execute();
  await notifyAfterCommit(db, MAIL_CHANNEL);
}

/** Claims the mail that is due first. No other worker gets this mail before its next attempt is due. */
export async function claimDueMail(db: Db): Promise<ClaimedMail | undefined> {
  const { rows } = await sql<ClaimedMail>`
    update mail_outbox set attempts = attempts + 1, next_attempt_at = now() + ${RETRY_DELAY}
    where id = (select id from mail_outbox where next_attempt_at <= now() order by next_attempt_at
      for update skip locked limit 1)
    returning id, mail, attempts`.execute(db);
  return rows[0];
}

export async function deleteMail(db: Db, id: string): Promise<void> {
  await db.deleteFrom('mail_outbox').where('id', '=', id).execute();
}

export async function measureOutbox(db: Db): Promise<QueueState> {
  const { rows } = await sql<QueueState>`select count(*)::int as length,
    coalesce(extract(epoch from now() - min(inserted_at)), 0)::float8 as "oldestSeconds" from mail_outbox`.execute(
    db,
  );
  return rows[0] ?? EMPTY_QUEUE;
}
