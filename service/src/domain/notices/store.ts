import { type Insertable, type RawBuilder, sql } from 'kysely';
import { EMPTY_QUEUE, type QueueState } from '../../kernel/queue-state.ts';
import type { Context } from '../../platform/context/context.ts';
import { deleteInBatches } from '../../platform/db/delete-in-batches.ts';
import type { Db } from '../../platform/db/pool.ts';
import type { Database } from '../../platform/db/tables.ts';

export type WaitingNotice = { id: bigint; user_id: string; kind: string; data: Record<string, unknown> };

export async function insertNotice(tx: Db, notice: Insertable<Database['notices']>): Promise<void> {
  await tx
    .insertInto('notices')
    .values(notice)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Writes a notice of the status of each of these participations, unless the user has been told of this status. */
export async function insertParticipationNotices(tx: Db, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  // Neither reasons nor holds are part of a notice: the user must not learn of a hold from a mail.
  await sql`insert into notices (user_id, kind, occurrence, data)
    select p.user_id, 'participation_' || p.status, p.id::text, jsonb_build_object('offer', o.name, 'partner', r.name,
      'amount', p.amount::text, 'digits', p.asset_digits, 'asset', p.asset_code)
    from unnest(${ids}::uuid[]) with ordinality as n (id, row) join participations p on p.id = n.id
      join offers o on o.id = p.offer_id join partners r on r.id = p.partner_id
    order by n.row on conflict do nothing`.execute(tx);
}

const RETRY_DELAY = sql.raw("interval '10 minutes'");

/** Locks the oldest waiting notices until the transaction ends. Other nodes skip them. */
export async function lockWaitingNotices(tx: Db, limit: number): Promise<WaitingNotice[]> {
  const { rows } = await sql<WaitingNotice>`select id, user_id, kind, data from notices
    where handled_at is null and (retry_at is null or retry_at <= now()) order by id limit ${limit} for update skip locked`.execute(
    tx,
  );
  return rows;
}

export async function markHandled(tx: Db, ids: readonly bigint[]): Promise<void> {
  await sql`update notices set handled_at = now() where id = any(${ids}::bigint[])`.execute(tx);
}

/** Postpones the notices, so that other notices are handled first. */
export async function postponeNotices(tx: Db, ids: readonly bigint[]): Promise<void> {
  await sql`update notices set retry_at = now() + ${RETRY_DELAY} where id = any(${ids}::bigint[])`.execute(
    tx,
  );
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

/** Turns off the topic for the user. Does nothing if the user does not exist. */
export async function insertOptOut(db: Db, userId: string, topic: string): Promise<void> {
  await sql`insert into notice_opt_outs (user_id, topic) select id, ${topic} from users where id = ${userId}
    on conflict do nothing`.execute(db);
}

export async function deleteNoticesOf(tx: Db, userId: string): Promise<void> {
  await tx.deleteFrom('notices').where('user_id', '=', userId).execute();
  await tx.deleteFrom('notice_opt_outs').where('user_id', '=', userId).execute();
}

export async function deleteOldNotices({ db, config }: Pick<Context, 'db' | 'config'>): Promise<void> {
  const days = config.retention.noticeDays;
  await deleteInBatches(db, 'notices', sql`handled_at < now() - make_interval(days => ${days}::int)`);
}

const REMINDER_BATCH_SIZE = 1_000;

/**
 * Writes a notice for each accreditation that will become too old for an offer at some time between `now` and `until`.
 * Considers only published offers that have not ended, from partners whose app the user has connected. If there are
 * several such offers, the notice contains the earliest time. Returns whether there may be more notices to write.
 */
export async function insertAccreditationReminders(db: Db, now: string, until: string): Promise<boolean> {
  const { numAffectedRows } = await sql`
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
    having not exists (select from notices n where n.user_id = r.user_id and n.kind = 'accreditation_expiring'
      and n.occurrence = min(r.reviewed_at + p.accreditation_days * interval '1 day')::text)
    limit ${REMINDER_BATCH_SIZE}
    on conflict do nothing`.execute(db);
  return Number(numAffectedRows ?? 0n) === REMINDER_BATCH_SIZE;
}

/** The position of the last row that the previous batch examined. */
export type ReminderCursor = { at: string; id: string };

/**
 * Writes notices for the next batch of forms that were signed in `signedInYear` and are still valid. All of these forms
 * expire at the same time, so a single statement for all of them could take too long. Returns where to continue, or
 * null at the end.
 */
export async function insertFormReminders(
  db: Db,
  signedInYear: number,
  validUntil: number,
  after: ReminderCursor | null,
): Promise<ReminderCursor | null> {
  const { rows } = await sql<ReminderCursor>`
    with forms as materialized (
      select d.id, d.completed_at as at, d.user_id, d.document_type, d.attempt, d.pii_version from document_submissions d
      where d.status = 'COMPLETED' and d.completed_at >= make_timestamptz(${signedInYear}::int, 1, 1, 0, 0, 0, 'UTC')
        and d.completed_at < make_timestamptz(${signedInYear}::int + 1, 1, 1, 0, 0, 0, 'UTC')
        and (d.completed_at, d.id) > (${after?.at ?? '-infinity'}::timestamptz, ${after?.id ?? FIRST_ID}::uuid)
      order by d.completed_at, d.id limit ${REMINDER_BATCH_SIZE}
    ), written as (
      insert into notices (user_id, kind, occurrence, data)
      select d.user_id, 'form_expiring', d.id::text, jsonb_build_object('until', ${validUntil}::float8) from forms d
      where d.pii_version = coalesce((select p.version from pii p where p.user_id = d.user_id), 0)
        and not exists (select from document_submissions n where n.user_id = d.user_id
          and n.document_type = d.document_type and n.attempt > d.attempt)
      on conflict do nothing
    )
    ${lastOf(sql`forms`)}`.execute(db);
  return rows[0] ?? null;
}

/** Returns where to continue, or null at the end. */
export async function insertLinkReminders(
  db: Db,
  now: string,
  until: string,
  after: ReminderCursor | null,
): Promise<ReminderCursor | null> {
  const { rows } = await sql<ReminderCursor>`
    with links as materialized (
      select d.id, d.expires_at as at, d.user_id from document_submissions d
      where d.status in ('SENT', 'VIEWED') and d.expires_at > ${now}::timestamptz and d.expires_at <= ${until}::timestamptz
        and (d.expires_at, d.id) > (${after?.at ?? '-infinity'}::timestamptz, ${after?.id ?? FIRST_ID}::uuid)
      order by d.expires_at, d.id limit ${REMINDER_BATCH_SIZE}
    ), written as (
      insert into notices (user_id, kind, occurrence, data)
      select user_id, 'form_link_expiring', id::text, jsonb_build_object('until', extract(epoch from at) * 1000) from links
      on conflict do nothing
    )
    ${lastOf(sql`links`)}`.execute(db);
  return rows[0] ?? null;
}

const FIRST_ID = '00000000-0000-0000-0000-000000000000';

function lastOf(rows: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`select at, id from ${rows} where (select count(*) from ${rows}) = ${REMINDER_BATCH_SIZE}
    order by at desc, id desc limit 1`;
}

export async function measureNotices(db: Db): Promise<QueueState> {
  const { rows } = await sql<QueueState>`select count(*)::int as length,
    coalesce(extract(epoch from now() - min(written_at)), 0)::float8 as "oldestSeconds"
    from notices where handled_at is null`.execute(db);
  return rows[0] ?? EMPTY_QUEUE;
}

export async function listUnsubscribeKeys(db: Db): Promise<{ fingerprint: Buffer; sealed: Buffer }[]> {
  return db.selectFrom('unsubscribe_keys').select(['fingerprint', 'sealed']).execute();
}

export async function putUnsubscribeKey(tx: Db, fingerprint: Buffer, sealed: Buffer): Promise<void> {
  await sql`insert into unsubscribe_keys (fingerprint, sealed) values (${fingerprint}, ${sealed})
    on conflict (fingerprint) do update set sealed = excluded.sealed`.execute(tx);
}
