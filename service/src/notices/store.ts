import { type Insertable, sql } from 'kysely';
import type { Notices } from '../db/account-tables.ts';
import { deleteInBatches } from '../db/delete-in-batches.ts';
import type { Db } from '../db/pool.ts';

const RETENTION = '1 year';

export type WaitingNotice = { id: bigint; user_id: string; kind: string; data: Record<string, unknown> };

export async function insertNotice(tx: Db, notice: Insertable<Notices>): Promise<void> {
  await tx
    .insertInto('notices')
    .values(notice)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Locks the oldest waiting notices until the transaction ends. Other nodes skip them. */
export async function lockWaitingNotices(tx: Db, limit: number): Promise<WaitingNotice[]> {
  const { rows } = await sql<WaitingNotice>`select id, user_id, kind, data from notices
    where handled_at is null order by id limit ${limit} for update skip locked`.execute(tx);
  return rows;
}

export async function markHandled(tx: Db, ids: readonly bigint[]): Promise<void> {
  await sql`update notices set handled_at = now() where id = any(${ids}::bigint[])`.execute(tx);
}

export async function listOptOuts(db: Db, userId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('notice_opt_outs')
    .select('topic')
    .where('user_id', '=', userId)
    .orderBy('topic')
    .execute();
  return rows.map(({ topic }) => topic);
}

export async function replaceOptOuts(tx: Db, userId: string, topics: readonly string[]): Promise<void> {
  await tx.deleteFrom('notice_opt_outs').where('user_id', '=', userId).execute();
  for (const topic of topics) await insertOptOut(tx, userId, topic);
}

/** Does nothing for a user who does not exist. */
export async function insertOptOut(db: Db, userId: string, topic: string): Promise<void> {
  await sql`insert into notice_opt_outs (user_id, topic) select id, ${topic} from users where id = ${userId}
    on conflict do nothing`.execute(db);
}

export async function deleteNoticesOf(tx: Db, userId: string): Promise<void> {
  await tx.deleteFrom('notices').where('user_id', '=', userId).execute();
  await tx.deleteFrom('notice_opt_outs').where('user_id', '=', userId).execute();
}

export async function deleteOldNotices({ db }: { db: Db }): Promise<void> {
  await deleteInBatches(db, 'notices', sql`handled_at < now() - ${RETENTION}::interval`);
}

/**
 * Writes a notice for every accreditation that an open offer of a connected app will stop accepting between `now` and
 * `until`. The notice names the earliest such time.
 */
export async function insertAccreditationReminders(db: Db, now: string, until: string): Promise<void> {
  await sql`
    insert into notices (user_id, kind, occurrence, data)
    select r.user_id, 'accreditation_expiring', min(r.reviewed_at + p.accreditation_days * interval '1 day')::text,
      jsonb_build_object('until', extract(epoch from min(r.reviewed_at + p.accreditation_days * interval '1 day')) * 1000)
    from (select distinct accreditation_days from offer_options) as d
    join identity_reviews r on r.level_name = 'AccreditationIndividual_FullVerification' and r.answer = 'GREEN'
      and r.reviewed_at > ${now}::timestamptz - d.accreditation_days * interval '1 day'
      and r.reviewed_at <= ${until}::timestamptz - d.accreditation_days * interval '1 day'
    join offer_options p on p.accreditation_days = d.accreditation_days
    join offers o on o.id = p.offer_id and o.published_at is not null
      and coalesce(least(o.ends_at, o.closed_at), 'infinity') > ${now}::timestamptz
    where exists (select from requirements q where q.option_id = p.id and q.type = 'accreditation')
      and exists (select from offer_partners a join oauth_clients c on c.partner_id = a.partner_id
        join oauth_grants g on g.client_id = c.client_id
        where a.offer_id = o.id and g.user_id = r.user_id and g.revoked_at is null)
    group by r.user_id, r.reviewed_at
    on conflict do nothing`.execute(db);
}

/** Writes a notice for every form that was signed in the year and is still the user's valid form. */
export async function insertFormReminders(db: Db, signedInYear: number, validUntil: number): Promise<void> {
  await sql`
    insert into notices (user_id, kind, occurrence, data)
    select d.user_id, 'form_expiring', d.id::text, jsonb_build_object('until', ${validUntil}::float8)
    from document_submissions d
    where d.status = 'COMPLETED' and d.completed_at >= make_timestamptz(${signedInYear}::int, 1, 1, 0, 0, 0, 'UTC')
      and d.completed_at < make_timestamptz(${signedInYear}::int + 1, 1, 1, 0, 0, 0, 'UTC')
      and d.pii_version = coalesce((select p.version from pii p where p.user_id = d.user_id), 0)
      and not exists (select from document_submissions n where n.user_id = d.user_id
        and n.document_type = d.document_type and n.attempt > d.attempt)
    on conflict do nothing`.execute(db);
}

/** Writes a notice for every form that waits for a signature and whose link expires between `now` and `until`. */
export async function insertLinkReminders(db: Db, now: string, until: string): Promise<void> {
  await sql`
    insert into notices (user_id, kind, occurrence, data)
    select d.user_id, 'form_link_expiring', d.id::text,
      jsonb_build_object('until', extract(epoch from d.expires_at) * 1000)
    from document_submissions d
    where d.status in ('SENT', 'VIEWED') and d.expires_at > ${now}::timestamptz and d.expires_at <= ${until}::timestamptz
    on conflict do nothing`.execute(db);
}
