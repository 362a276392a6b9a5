import { sql } from 'kysely';
import { EMPTY_QUEUE, type QueueState } from '../../kernel/queue-state.ts';
import { toTimestamp } from '../../kernel/wire.ts';
import type { Db } from '../../platform/db/pool.ts';
import type { Database } from '../../platform/db/tables.ts';
import {
  OPEN_STATUSES,
  type Signing,
  SUBMISSION_STATUSES,
  type SubmissionStatus,
} from '../../platform/providers/documents.ts';

const LEASE = '60 seconds';

export type SubmissionRow = Database['document_submissions'];

/** Until the transaction ends, blocks other calls for the same user and type. */
export async function lockLatest(
  db: Db,
  userId: string,
  documentType: string,
): Promise<SubmissionRow | undefined> {
  await sql`select pg_advisory_xact_lock(hashtext('document_submissions'), hashtext(${`${userId} ${documentType}`}))`.execute(
    db,
  );
  return db
    .selectFrom('document_submissions')
    .selectAll()
    .where('user_id', '=', userId)
    .where('document_type', '=', documentType)
    .orderBy('attempt', 'desc')
    .limit(1)
    .forUpdate()
    .executeTakeFirst();
}

/** The reconciler ignores the row for `reconcileAfter`, because our request to the provider may still be running. */
export async function insertSubmission(
  db: Db,
  row: Omit<SubmissionRow, 'due_at'>,
  reconcileAfter: string,
): Promise<SubmissionRow> {
  return db
    .insertInto('document_submissions')
    .values({ ...row, due_at: sql`now() + ${reconcileAfter}::interval` })
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function withdrawSubmission(db: Db, id: string): Promise<void> {
  await db
    .deleteFrom('document_submissions')
    .where('id', '=', id)
    .where('status', '=', 'INITIALIZED')
    .where('provider_submission_id', 'is', null)
    .execute();
}

export async function claimResend(
  db: Db,
  id: string,
  changes: Pick<SubmissionRow, 'claimed_at' | 'updated_at'>,
): Promise<void> {
  await db.updateTable('document_submissions').set(changes).where('id', '=', id).execute();
}

/** Records to which version of the personal data the form values at the provider belong. */
export async function setPiiVersion(db: Db, id: string, pii_version: number): Promise<void> {
  await db.updateTable('document_submissions').set({ pii_version }).where('id', '=', id).execute();
}

export async function lockSubmission(tx: Db, id: string): Promise<SubmissionStatus | undefined> {
  const { rows } = await sql<{ status: SubmissionStatus }>`
    select status from document_submissions where id = ${id} for update`.execute(tx);
  return rows[0]?.status;
}

/** Updates the status if the provider's status is further along; a status never moves back. Returns the row. */
export async function advanceSubmission(
  db: Db,
  id: string,
  signing: Pick<Signing, 'status' | 'completedAt'> & Partial<Signing>,
  at: string,
): Promise<SubmissionRow | undefined> {
  const rank = SUBMISSION_STATUSES.indexOf(signing.status);
  const earlier = SUBMISSION_STATUSES.slice(0, rank);
  if (signing.submissionId !== undefined && signing.submitterId !== undefined) {
    await db
      .updateTable('document_submissions')
      .set({
        provider_submission_id: BigInt(signing.submissionId),
        provider_submitter_id: BigInt(signing.submitterId),
      })
      .where('id', '=', id)
      .where('provider_submission_id', 'is', null)
      .execute();
  }
  if (earlier.length > 0) {
    const completed_at = signing.completedAt === null ? null : toTimestamp(signing.completedAt * 1000);
    await db
      .updateTable('document_submissions')
      .set({ status: signing.status, completed_at, updated_at: at })
      .where('id', '=', id)
      .where('status', 'in', [...earlier])
      .execute();
  }
  return db.selectFrom('document_submissions').selectAll().where('id', '=', id).executeTakeFirst();
}

/** Finds the submission by the provider's id or, if the row or the event has none, by our own id (`externalId`). */
export async function findSubmissionOfEvent(
  db: Db,
  submissionId: number | null,
  externalId: string | null,
): Promise<{ id: string; status: SubmissionStatus } | undefined> {
  const { rows } = await sql<{ id: string; status: SubmissionStatus }>`
    select id, status from document_submissions
    where provider_submission_id = ${submissionId}::bigint
      or (id = ${externalId}::uuid and (provider_submission_id is null or ${submissionId}::bigint is null))
    limit 1 for update`.execute(db);
  return rows[0];
}

export async function claimDueSubmission(db: Db): Promise<SubmissionRow | undefined> {
  const { rows } = await sql<SubmissionRow>`
    update document_submissions set lease_until = now() + ${LEASE}::interval
    where id = (select id from document_submissions where status = any(${[...OPEN_STATUSES]}) and due_at <= now()
      and (lease_until is null or lease_until < now()) order by due_at for update skip locked limit 1)
    returning *`.execute(db);
  return rows[0];
}

export async function claimFormToArchive(db: Db): Promise<SubmissionRow | undefined> {
  const { rows } = await sql<SubmissionRow>`
    with form as (
      update forms_to_archive set lease_until = now() + ${LEASE}::interval
      where submission_id = (select submission_id from forms_to_archive where due_at <= now()
        and (lease_until is null or lease_until < now()) order by due_at for update skip locked limit 1)
      returning submission_id)
    select * from document_submissions where id in (select submission_id from form)`.execute(db);
  return rows[0];
}

export async function addFormToArchive(tx: Db, id: string): Promise<void> {
  await sql`insert into forms_to_archive (submission_id) values (${id}) on conflict do nothing`.execute(tx);
}

/** Ends the lease. The form is due again after `seconds`, later if it has been waiting for long. */
export async function postponeArchiving(db: Db, id: string, seconds: number): Promise<void> {
  await sql`update forms_to_archive set lease_until = null, due_at = now() + greatest(
      make_interval(secs => ${seconds}), least((now() - inserted_at) / 4, interval '1 hour'))
    where submission_id = ${id}`.execute(db);
}

export async function deleteFormToArchive(db: Db, id: string): Promise<void> {
  await db.deleteFrom('forms_to_archive').where('submission_id', '=', id).execute();
}

export async function finishDueSubmission(db: Db, id: string, seconds: number): Promise<void> {
  await sql`update document_submissions set lease_until = null, due_at = now() + make_interval(secs => ${seconds})
    where id = ${id}`.execute(db);
}

export async function expireSubmissions(
  tx: Db,
  userId: string,
  now: string,
): Promise<{ openSubmissions: number[]; isSigned: boolean }> {
  const expired = await sql<{ id: number | null }>`
    with expired as (
      update document_submissions set status = 'EXPIRED', updated_at = ${now}
      where user_id = ${userId} and status = any(${[...OPEN_STATUSES]}) returning id, provider_submission_id
    ), archived as (
      insert into forms_to_archive (submission_id) select id from expired on conflict do nothing
    )
    select provider_submission_id::float8 as id from expired`.execute(tx);
  const signed = await sql`select from document_submissions
    where user_id = ${userId} and status = 'COMPLETED' limit 1`.execute(tx);
  return {
    openSubmissions: expired.rows.flatMap(({ id }) => (id === null ? [] : [id])),
    isSigned: signed.rows.length > 0,
  };
}

/** Counts open submissions that are due and forms to archive. Failed attempts do not shorten a form's wait. */
export async function measureDueSubmissions(db: Db): Promise<QueueState> {
  const { rows } = await sql<QueueState>`select count(*)::int as length,
    coalesce(extract(epoch from now() - min(since)), 0)::float8 as "oldestSeconds"
    from (select due_at as since from document_submissions
        where status = any(${[...OPEN_STATUSES]}) and due_at <= now()
      union all select inserted_at from forms_to_archive) waiting`.execute(db);
  return rows[0] ?? EMPTY_QUEUE;
}

export async function listSubmissionsOf(db: Db, userId: string) {
  return db
    .selectFrom('document_submissions')
    .select(['document_type', 'form_type', 'status', 'inserted_at', 'completed_at'])
    .where('user_id', '=', userId)
    .orderBy('inserted_at')
    .execute();
}
