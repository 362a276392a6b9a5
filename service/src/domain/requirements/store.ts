import { CompiledQuery, sql } from 'kysely';
import type pg from 'pg';
import type { Level } from '../../kernel/model/levels.ts';
import type { UserKind } from '../../kernel/model/personal-data.ts';
import type { Db } from '../../platform/db/pool.ts';
import type { Database } from '../../platform/db/tables.ts';
import type { FormType, SubmissionStatus } from '../../platform/providers/documents.ts';
import type { ReviewStatus } from '../../platform/providers/identity.ts';

export type FactsRow = {
  kind: UserKind;
  is_active: boolean;
  is_being_read: boolean;
  sealed_facts: Buffer | null;
  version: number | null;
  is_stale: boolean | null;
  /** These fields are arrays to save space: in objects, member names would make up most of the bytes. */
  reviews:
    | [Level, ReviewStatus, 'GREEN' | 'RED' | null, 'RETRY' | 'FINAL' | null, number | null, string | null][]
    | null;
  documents: [string, SubmissionStatus, FormType, number, number | null, number][] | null;
  wallets: [string, string][] | null;
  acknowledgements: [optionId: string, document: string, version: string, sha256: string][] | null;
};

const epochMs = (column: string) => `(extract(epoch from ${column}) * 1000)::float8`;

const USER_COLUMNS = `u.kind, coalesce(a.is_active, true) as is_active,
    coalesce(a.due_at <= now() or a.attempts > 0, false) as is_being_read, p.sealed_facts, p.version, p.is_stale`;
const REVIEW_COLUMNS = `r.level_name, r.review_status, r.answer, r.reject_type, ${epochMs('r.reviewed_at')},
      encode(r.person_hash, 'hex')`;
const DOCUMENT_COLUMNS = `d.document_type, d.status, d.form_type, ${epochMs('d.expires_at')},
      ${epochMs('d.completed_at')}, d.pii_version`;
const WALLET_COLUMNS = 'w.option_id, w.protocol';
const ACKNOWLEDGEMENT_COLUMNS = 'o.id, t.document, t.version, t.sha256';
const FACTS_TABLES = `users u left join identity_applicants a on a.user_id = u.id
      left join pii p on p.user_id = u.id and p.restricted_until is null`;

/**
 * Returns the statement that reads all facts about a user in one round trip. Of the wallets and acknowledgements, it
 * reads only those for the options in parameter $2. The statement is hand-written for speed, because clients poll the
 * statuses. `user` is the parameter or column that contains the user's id.
 */
export const factsText = (user: string) => `select ${USER_COLUMNS},
    (select json_agg(json_build_array(${REVIEW_COLUMNS}))
      from identity_reviews r where r.user_id = u.id) as reviews,
    (select json_agg(json_build_array(${DOCUMENT_COLUMNS})) from (select distinct on (document_type) *
        from document_submissions where user_id = u.id order by document_type, attempt desc) d) as documents,
    (select json_agg(json_build_array(${WALLET_COLUMNS})) from option_addresses w
      where w.user_id = u.id and w.option_id = any($2)) as wallets,
    (select json_agg(json_build_array(${ACKNOWLEDGEMENT_COLUMNS})) from acknowledgements t
      join offer_options o on o.offer_id = t.offer_id where t.user_id = u.id and o.id = any($2)) as acknowledgements
    from ${FACTS_TABLES} where u.id = ${user}`;

/**
 * Reads the next $2 users after user $1, for reports on all users. The statements below read the other facts of these
 * users by id range, which is far cheaper than reading one user at a time. The conditions on the joined tables look
 * redundant, but without them a merge join would read each of these tables from its start for every batch.
 */
const NEXT_USERS_TEXT = `select u.id, u.held_at is not null as is_held, ${USER_COLUMNS}
    from users u left join identity_applicants a on a.user_id = u.id and a.user_id > $1
      left join pii p on p.user_id = u.id and p.user_id > $1 and p.restricted_until is null
    where u.id > $1 order by u.id limit $2`;
const REVIEWS_TEXT = `select r.user_id, ${REVIEW_COLUMNS} from identity_reviews r
    where r.user_id > $1 and r.user_id <= $2`;
const DOCUMENTS_TEXT = `select distinct on (d.user_id, d.document_type) d.user_id, ${DOCUMENT_COLUMNS}
    from document_submissions d where d.user_id > $1 and d.user_id <= $2
    order by d.user_id, d.document_type, d.attempt desc`;
const WALLETS_TEXT = `select w.user_id, ${WALLET_COLUMNS} from option_addresses w
    where w.user_id > $1 and w.user_id <= $2 and w.option_id = any($3)`;

const ACKNOWLEDGEMENTS_TEXT = `select t.user_id, ${ACKNOWLEDGEMENT_COLUMNS} from acknowledgements t
    join offer_options o on o.offer_id = t.offer_id where t.user_id > $1 and t.user_id <= $2 and o.id = any($3)`;

const READ_FACTS = factsText('$1');
const FACTS_OF_ALL_TEXT = `select k.user_id, f.* from unnest($1::uuid[]) as k (user_id)
    cross join lateral (${factsText('k.user_id')}) f`;

export async function readFactsRow(
  db: Db,
  userId: string,
  optionIds: readonly string[],
): Promise<FactsRow | undefined> {
  const { rows } = await db.executeQuery(CompiledQuery.raw(READ_FACTS, [userId, optionIds]));
  return rows[0] as FactsRow | undefined;
}

export async function readFactsRowsIn(
  tx: Db,
  userIds: readonly string[],
  optionIds: readonly string[],
): Promise<Map<string, FactsRow>> {
  const { rows } = await tx.executeQuery(CompiledQuery.raw(FACTS_OF_ALL_TEXT, [userIds, optionIds]));
  return new Map((rows as (FactsRow & { user_id: string })[]).map((row) => [row.user_id, row]));
}

/**
 * Locks the users' rows in `identity_applicants` until the transaction ends. Until then, updates from the identity
 * provider wait, because they lock the same rows.
 */
export async function lockApplicants(tx: Db, userIds: readonly string[]): Promise<void> {
  await sql`select from identity_applicants where user_id = any(${userIds}::uuid[]) order by user_id for share`.execute(
    tx,
  );
}

type NextFactsRow = FactsRow & { id: string; is_held: boolean };

export async function listNextFacts(
  pool: pg.Pool,
  afterId: string,
  optionIds: readonly string[],
  limit: number,
): Promise<NextFactsRow[]> {
  const { rows } = await pool.query<NextFactsRow>(NEXT_USERS_TEXT, [afterId, limit]);
  const lastId = rows.at(-1)?.id;
  if (lastId === undefined) return [];
  const range = [afterId, lastId];
  const [reviews, documents, wallets, acknowledgements] = await Promise.all([
    readGroups<'reviews'>(pool, REVIEWS_TEXT, range),
    readGroups<'documents'>(pool, DOCUMENTS_TEXT, range),
    readGroups<'wallets'>(pool, WALLETS_TEXT, [...range, optionIds]),
    readGroups<'acknowledgements'>(pool, ACKNOWLEDGEMENTS_TEXT, [...range, optionIds]),
  ]);
  for (const row of rows) {
    row.reviews = reviews.get(row.id) ?? null;
    row.documents = documents.get(row.id) ?? null;
    row.wallets = wallets.get(row.id) ?? null;
    row.acknowledgements = acknowledgements.get(row.id) ?? null;
  }
  return rows;
}

/** Runs a query whose first column is the user's id, and groups the remaining columns by user. */
async function readGroups<K extends 'reviews' | 'documents' | 'wallets' | 'acknowledgements'>(
  pool: pg.Pool,
  text: string,
  values: readonly unknown[],
): Promise<Map<string, NonNullable<FactsRow[K]>>> {
  const { rows } = await pool.query<unknown[]>({ text, values: [...values], rowMode: 'array' });
  const groups = new Map<string, unknown[][]>();
  for (const [userId, ...fact] of rows) {
    const group = groups.get(String(userId));
    if (group === undefined) groups.set(String(userId), [fact]);
    else group.push(fact);
  }
  return groups as Map<string, NonNullable<FactsRow[K]>>;
}

/** Returns how many users there are, which is how many `readAllFacts` yields. */
export async function countUsers(db: Db): Promise<number> {
  const { rows } = await db.executeQuery(CompiledQuery.raw('select count(*)::int as count from users'));
  return (rows as { count: number }[])[0]?.count ?? 0;
}

export type ReportedStatus = Database['reported_statuses'];

/**
 * Takes a lock until the transaction ends, so that only one report about a user runs at a time. Each report sees what
 * the transactions of earlier reports have committed, so the last report covers all facts.
 */
export async function lockReports(tx: Db, userId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext('requirement reports'), hashtext(${userId}))`.execute(tx);
}

export async function listReportedStatuses(db: Db, userId: string): Promise<ReportedStatus[]> {
  return db.selectFrom('reported_statuses').selectAll().where('user_id', '=', userId).execute();
}

export async function saveReportedStatuses(tx: Db, rows: readonly ReportedStatus[]): Promise<void> {
  if (rows.length === 0) return;
  await tx
    .insertInto('reported_statuses')
    .values(rows)
    .onConflict((conflict) =>
      conflict.columns(['user_id', 'partner_id', 'requirement_id']).doUpdateSet((row) => ({
        status: row.ref('excluded.status'),
        action: row.ref('excluded.action'),
      })),
    )
    .execute();
}

export async function listDueChecks(db: Db, now: string, limit: number): Promise<string[]> {
  const { rows } = await sql<{ user_id: string }>`select user_id from status_checks
    where due_at <= ${now}::timestamptz order by due_at limit ${limit}`.execute(db);
  return rows.map(({ user_id }) => user_id);
}

/**
 * Locks the user's check until the transaction ends, and returns whether the check is still due. A transaction that
 * changes the user's facts in the meantime waits for this lock. It then makes the check due again, so that its change
 * is not missed.
 */
export async function lockDueCheck(tx: Db, userId: string, now: string): Promise<boolean> {
  const { rows } = await sql`select from status_checks
    where user_id = ${userId} and due_at <= ${now}::timestamptz for update`.execute(tx);
  return rows.length === 1;
}

/** Null: no status will change merely because time passes. */
export async function planCheck(tx: Db, userId: string, dueAt: string | null): Promise<void> {
  await (dueAt === null
    ? sql`delete from status_checks where user_id = ${userId}`
    : sql`update status_checks set due_at = ${dueAt}::timestamptz where user_id = ${userId}`
  ).execute(tx);
}
