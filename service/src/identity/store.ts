import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { UserKind } from '../accounts/user.ts';
import { deleteInBatches } from '../db/delete-in-batches.ts';
import type { IdentityReviews } from '../db/identity-tables.ts';
import type { Db } from '../db/pool.ts';
import { toTimestamp } from '../http/wire.ts';
import type { Level, Review } from './provider.ts';

export const IDENTITY_CHANNEL = 'identity_applicants';

/** Longer than any read takes, so that a row is read by one worker at a time. */
const LEASE = '60 seconds';

export type ApplicantRow = { user_id: string; applicant_id: string | null; kind: UserKind };

/** The user's row, locked until the transaction ends; made when there is none. Undefined for nobody's id, and after an erasure. */
export async function lockApplicant(db: Db, userId: string): Promise<ApplicantRow | undefined> {
  await sql`insert into identity_applicants (user_id, due_at)
    select u.id, 'infinity' from users u where u.id = ${userId} and not exists (select from erasures e where e.user_id = u.id)
    on conflict do nothing`.execute(db);
  const { rows } = await sql<ApplicantRow>`
    select a.user_id, a.applicant_id, u.kind from identity_applicants a join users u on u.id = a.user_id
    where a.user_id = ${userId} and not exists (select from erasures e where e.user_id = u.id)
    for update of a`.execute(db);
  return rows[0];
}

export async function findUserOfApplicant(db: Db, applicantId: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('identity_applicants')
    .select('user_id')
    .where('applicant_id', '=', applicantId)
    .executeTakeFirst();
  return row?.user_id;
}

/** False when the id is another user's already. */
export async function setApplicantId(db: Db, userId: string, applicantId: string | null): Promise<boolean> {
  const { rows } =
    await sql`update identity_applicants a set applicant_id = ${applicantId} where user_id = ${userId}
    and not exists (select from identity_applicants o where o.applicant_id = ${applicantId} and o.user_id <> a.user_id)
    returning user_id`.execute(db);
  return rows.length === 1;
}

/** To be read again at once, by whichever node hears of it first. */
export async function markDue(db: Db, userId: string): Promise<void> {
  await sql`update identity_applicants set due_at = now() where user_id = ${userId}`.execute(db);
  await sql`select pg_notify(${IDENTITY_CHANNEL}, '')`.execute(db);
}

/** A token was given out: the applicant may come into being without our hearing of it. */
export async function expectApplicant(db: Db, userId: string): Promise<void> {
  await sql`insert into identity_applicants (user_id, due_at) values (${userId}, now() + interval '10 minutes')
    on conflict (user_id) do update set due_at = least(identity_applicants.due_at, excluded.due_at)`.execute(
    db,
  );
}

/** Keeps what the provider said of one level at `asOf`, unless something newer is known. */
export async function saveReview(db: Db, userId: string, review: Review, asOf: string): Promise<void> {
  const { levelName, status, answer, rejectType, reviewedAt } = review;
  const reviewed_at = reviewedAt === null ? null : toTimestamp(reviewedAt * 1000);
  const said = { review_status: status, answer, reject_type: rejectType, reviewed_at, as_of: asOf };
  await db
    .insertInto('identity_reviews')
    .values({ user_id: userId, level_name: levelName, ...said })
    .onConflict((conflict) =>
      conflict
        .columns(['user_id', 'level_name'])
        .doUpdateSet(said)
        .where('identity_reviews.as_of', '<=', asOf),
    )
    .execute();
}

export async function findReview(
  db: Db,
  userId: string,
  level: Level,
): Promise<Pick<IdentityReviews, 'review_status' | 'reject_type'> | undefined> {
  return db
    .selectFrom('identity_reviews')
    .select(['review_status', 'reject_type'])
    .where('user_id', '=', userId)
    .where('level_name', '=', level)
    .executeTakeFirst();
}

/** The applicant is gone: what was decided about it is no longer worth anything. */
export async function forgetReviews(db: Db, userId: string, asOf: string): Promise<void> {
  await sql`update identity_reviews set review_status = 'init', answer = null, reject_type = null, reviewed_at = null,
    as_of = ${asOf} where user_id = ${userId} and as_of <= ${asOf}`.execute(db);
}

export async function setActive(db: Db, userId: string, isActive: boolean, asOf: string): Promise<void> {
  await sql`update identity_applicants set is_active = ${isActive}, active_as_of = ${asOf}
    where user_id = ${userId} and active_as_of <= ${asOf}`.execute(db);
}

export type DueApplicant = { user_id: string; attempts: number };

/** Hands out one row that is due; what makes it due again meanwhile is not lost. */
export async function claimDueApplicant(
  db: Db,
  userId: string | null = null,
): Promise<DueApplicant | undefined> {
  const { rows } = await sql<DueApplicant>`
    update identity_applicants set lease_until = now() + ${LEASE}::interval, due_at = 'infinity', attempts = attempts + 1
    where user_id = (select user_id from identity_applicants
      where (due_at <= now() or lease_until < now()) and (lease_until is null or lease_until < now())
        and (${userId}::uuid is null or user_id = ${userId})
      order by due_at for update skip locked limit 1)
    returning user_id, attempts`.execute(db);
  return rows[0];
}

/** Gives the row back, to be read again in `seconds`, or earlier where a webhook asks for it. */
export async function finishCheck(db: Db, userId: string, seconds: number): Promise<void> {
  await sql`update identity_applicants set lease_until = null, attempts = 0, checked_at = now(),
    due_at = least(due_at, now() + make_interval(secs => ${seconds})) where user_id = ${userId}`.execute(db);
}

export async function postponeCheck(db: Db, userId: string, seconds: number): Promise<void> {
  await sql`update identity_applicants set lease_until = null, due_at = now() + make_interval(secs => ${seconds})
    where user_id = ${userId}`.execute(db);
}

/** After a silence of ours: everybody whose case was open, or was never looked at. */
export async function markOpenCasesDue(db: Db): Promise<void> {
  await sql`update identity_applicants a set due_at = now() where due_at > now() and lease_until is null
    and (checked_at is null or exists (select from identity_reviews r where r.user_id = a.user_id
      and r.review_status <> 'completed'))`.execute(db);
}

export async function isSettled(db: Db, userId: string): Promise<boolean> {
  const { rows } = await sql`select from identity_applicants
    where user_id = ${userId} and (due_at <= now() or lease_until is not null or attempts > 0)`.execute(db);
  return rows.length === 0;
}

/** Deletes receipts that are older than any redelivery of their event. */
export async function deleteOldReceipts({ db }: { db: Db }): Promise<void> {
  await deleteInBatches(db, 'webhook_receipts', sql`received_at < now() - interval '60 days'`);
}

/** False when this event was taken before. */
export async function insertReceipt(
  db: Db,
  source: 'identity' | 'documents',
  name: string,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('webhook_receipts')
    .values({ source, key: createHash('sha256').update(name).digest() })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}
