import { CompiledQuery } from 'kysely';
import type pg from 'pg';
import type { UserKind } from '../accounts/user.ts';
import type { Db } from '../db/pool.ts';
import type { FormType, SubmissionStatus } from '../documents/provider.ts';
import type { Level, ReviewStatus } from '../identity/provider.ts';

export type FactsRow = {
  kind: UserKind;
  is_active: boolean;
  is_being_read: boolean;
  sealed_facts: Buffer | null;
  version: number | null;
  is_stale: boolean | null;
  /** Arrays instead of objects: member names would be most of the bytes. */
  reviews:
    | [Level, ReviewStatus, 'GREEN' | 'RED' | null, 'RETRY' | 'FINAL' | null, number | null, string | null][]
    | null;
  documents: [string, SubmissionStatus, FormType, number, number | null, number][] | null;
  wallets: [string, string][] | null;
};

const epochMs = (column: string) => `(extract(epoch from ${column}) * 1000)::float8`;

const FACTS_COLUMNS = `u.kind, coalesce(a.is_active, true) as is_active,
    coalesce(a.due_at <= now() or a.attempts > 0, false) as is_being_read, p.sealed_facts, p.version, p.is_stale,
    (select json_agg(json_build_array(r.level_name, r.review_status, r.answer, r.reject_type, ${epochMs('r.reviewed_at')},
      encode(r.person_hash, 'hex')))
      from identity_reviews r where r.user_id = u.id) as reviews,
    (select json_agg(json_build_array(d.document_type, d.status, d.form_type, ${epochMs('d.expires_at')},
      ${epochMs('d.completed_at')}, d.pii_version)) from (select distinct on (document_type) *
        from document_submissions where user_id = u.id order by document_type, attempt desc) d) as documents,
    (select json_agg(json_build_array(w.option_id, w.protocol)) from option_addresses w
      where w.user_id = u.id and w.option_id = any($2)) as wallets`;
const FACTS_TABLES = `users u left join identity_applicants a on a.user_id = u.id
      left join pii p on p.user_id = u.id and p.restricted_until is null`;

/** A hand-written statement, because statuses are polled: all facts about user $1 and options $2 in one round trip. */
export const FACTS_TEXT = `select ${FACTS_COLUMNS} from ${FACTS_TABLES} where u.id = $1`;

/** The facts of the next $3 users after user $1, for reports on all of them. */
const NEXT_FACTS_TEXT = `select u.id, u.held_at is not null as is_held, ${FACTS_COLUMNS}
    from ${FACTS_TABLES} where u.id > $1 order by u.id limit $3`;

const READ_FACTS = { name: 'requirement_facts', text: FACTS_TEXT };

/** Returns undefined for an unknown user. */
export async function readFactsRow(
  pool: pg.Pool,
  userId: string,
  optionIds: readonly string[],
): Promise<FactsRow | undefined> {
  const { rows } = await pool.query<FactsRow>({ ...READ_FACTS, values: [userId, optionIds] });
  return rows[0];
}

/** Like `readFactsRow`, inside a transaction that may have changed the facts. */
export async function readFactsRowIn(
  tx: Db,
  userId: string,
  optionIds: readonly string[],
): Promise<FactsRow | undefined> {
  const { rows } = await tx.executeQuery(CompiledQuery.raw(FACTS_TEXT, [userId, optionIds]));
  return rows[0] as FactsRow | undefined;
}

/** Blocks writers of identity answers and personal data until the transaction ends: they lock these rows too. */
export async function lockApplicants(tx: Db, userIds: readonly string[]): Promise<void> {
  await tx.executeQuery(
    CompiledQuery.raw(
      'select from identity_applicants where user_id = any($1::uuid[]) order by user_id for share',
      [userIds],
    ),
  );
}

export type NextFactsRow = FactsRow & { id: string; is_held: boolean };

/** Reads the facts of the next users in order of their ids. */
export async function listNextFacts(
  db: Db,
  afterId: string,
  optionIds: readonly string[],
  limit: number,
): Promise<NextFactsRow[]> {
  const { rows } = await db.executeQuery(CompiledQuery.raw(NEXT_FACTS_TEXT, [afterId, optionIds, limit]));
  return rows as NextFactsRow[];
}

export async function countUsers(db: Db): Promise<number> {
  const { rows } = await db.executeQuery(CompiledQuery.raw('select count(*)::int as count from users'));
  return (rows as { count: number }[])[0]?.count ?? 0;
}
