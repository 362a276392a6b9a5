import { sql } from 'kysely';
import { LEVELS, type Level } from '../../kernel/model/levels.ts';
import type { UserKind } from '../../kernel/model/personal-data.ts';
import { EMPTY_QUEUE, type QueueState } from '../../kernel/queue-state.ts';
import { toTimestamp } from '../../kernel/wire.ts';
import { notifyAfterCommit } from '../../platform/db/notify.ts';
import type { Db } from '../../platform/db/pool.ts';
import type { Review } from '../../platform/providers/identity.ts';

export const IDENTITY_CHANNEL = 'identity_applicants';

/** Longer than any read can take, so that only one worker reads an applicant at a time. */
const LEASE = '60 seconds';

/** The value stored instead of the person's hash until the applicant has been read. */
const UNKNOWN_PERSON = Buffer.alloc(0);

export type ApplicantRow = { user_id: string; applicant_id: string | null; kind: UserKind };

/** Creates the row if needed. Returns undefined for an unknown or erased user. */
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

export async function setApplicantId(db: Db, userId: string, applicantId: string | null): Promise<boolean> {
  const { rows } =
    await sql`update identity_applicants a set applicant_id = ${applicantId} where user_id = ${userId}
    and not exists (select from identity_applicants o where o.applicant_id = ${applicantId} and o.user_id <> a.user_id)
    returning user_id`.execute(db);
  return rows.length === 1;
}

/** Makes the applicant due for a check now, and wakes the workers after the commit. */
export async function markDue(db: Db, userId: string): Promise<void> {
  await sql`update identity_applicants set due_at = now() where user_id = ${userId}`.execute(db);
  await notifyAfterCommit(db, IDENTITY_CHANNEL);
}

/** Schedules a check after a KYC token was issued, in case the webhook about the new applicant gets lost. */
export async function expectApplicant(db: Db, userId: string): Promise<void> {
  await sql`insert into identity_applicants (user_id, due_at) values (${userId}, now() + interval '10 minutes')
    on conflict (user_id) do update set due_at = least(identity_applicants.due_at, excluded.due_at)`.execute(
    db,
  );
}

/** A review on one of the levels that requirements ask for. */
export type LevelReview = Review & { levelName: Level };

export function isLevelReview(review: Review): review is LevelReview {
  return LEVELS.some((level) => level === review.levelName);
}

/**
 * Stores a level's review as of `asOf`, unless a newer review is already stored. Returns whether the outcome (status,
 * answer and kind of rejection) has changed; the caller holds the lock of the applicant. A new approval has no person
 * until `savePerson` stores one.
 */
export async function saveReview(
  tx: Db,
  userId: string,
  review: LevelReview,
  asOf: string,
): Promise<boolean> {
  const { levelName, status, answer, rejectType, reviewedAt } = review;
  const before = await tx
    .selectFrom('identity_reviews')
    .select(['review_status', 'answer', 'reject_type'])
    .where('user_id', '=', userId)
    .where('level_name', '=', levelName)
    .executeTakeFirst();
  const reviewed_at = reviewedAt === null ? null : toTimestamp(reviewedAt * 1000);
  const person_hash = answer === 'GREEN' ? UNKNOWN_PERSON : null;
  const columns = { review_status: status, answer, reject_type: rejectType, reviewed_at, as_of: asOf };
  const isSameApproval = sql<boolean>`identity_reviews.answer = 'GREEN' and ${answer} = 'GREEN'
    and identity_reviews.reviewed_at = ${reviewed_at}`;
  const known_hash = sql<Buffer>`case when ${isSameApproval} then identity_reviews.person_hash else ${person_hash} end`;
  const { numInsertedOrUpdatedRows: saved } = await tx
    .insertInto('identity_reviews')
    .values({ user_id: userId, level_name: levelName, person_hash, ...columns })
    .onConflict((conflict) =>
      conflict
        .columns(['user_id', 'level_name'])
        .doUpdateSet({ ...columns, person_hash: known_hash })
        .where('identity_reviews.as_of', '<=', asOf),
    )
    .executeTakeFirst();
  const isSame =
    before?.review_status === status && before.answer === answer && before.reject_type === rejectType;
  return saved === 1n && !isSame;
}

export async function savePerson(
  db: Db,
  userId: string,
  level: string,
  person: string,
  asOf: string,
): Promise<void> {
  await sql`update identity_reviews set person_hash = decode(${person}, 'hex')
    where user_id = ${userId} and level_name = ${level} and answer = 'GREEN'
      and (person_hash = ${UNKNOWN_PERSON} or as_of <= ${asOf})`.execute(db);
}

export async function isFinallyRejected(db: Db, userId: string): Promise<boolean> {
  const { rows } = await sql`
    select from identity_reviews where user_id = ${userId} and reject_type = 'FINAL'
    union all select from identity_applicants where user_id = ${userId} and not is_active limit 1`.execute(
    db,
  );
  return rows.length > 0;
}

/** Resets all reviews to `init` after the applicant was deleted, but keeps final rejections. */
export async function resetReviews(db: Db, userId: string, asOf: string): Promise<void> {
  await sql`update identity_reviews set review_status = 'init', answer = null, reject_type = null, reviewed_at = null,
    as_of = ${asOf} where user_id = ${userId} and as_of <= ${asOf} and reject_type is distinct from 'FINAL'`.execute(
    db,
  );
}

export async function setActive(db: Db, userId: string, isActive: boolean, asOf: string): Promise<void> {
  await sql`update identity_applicants set is_active = ${isActive}, active_as_of = ${asOf}
    where user_id = ${userId} and active_as_of <= ${asOf}`.execute(db);
}

export type DueApplicant = { user_id: string; attempts: number };

/** If the applicant becomes due again while it is claimed, it is checked again afterwards. */
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

/** The next check is due in `seconds`, or earlier if a webhook made the applicant due. Null plans none. */
export async function finishCheck(db: Db, userId: string, seconds: number | null): Promise<void> {
  await sql`update identity_applicants set lease_until = null, attempts = 0, checked_at = now(),
    due_at = least(due_at, now() + make_interval(secs => ${seconds}::float8)) where user_id = ${userId}`.execute(
    db,
  );
}

/** Releases a claimed applicant after a failed check. The next check is due in `seconds`, unless the user was erased. */
export async function postponeCheck(db: Db, userId: string, seconds: number): Promise<void> {
  await sql`update identity_applicants a set lease_until = null,
    due_at = case when exists (select from erasures e where e.user_id = a.user_id) then 'infinity'
      else now() + make_interval(secs => ${seconds}) end
    where user_id = ${userId}`.execute(db);
}

/** Called when the service starts, because webhooks may have been lost while it was down. */
export async function markOpenCasesDue(db: Db): Promise<void> {
  await sql`update identity_applicants a set due_at = now() where due_at > now() and lease_until is null
    and (checked_at is null or exists (select from identity_reviews r where r.user_id = a.user_id
      and r.review_status <> 'completed'))
    and not exists (select from erasures e where e.user_id = a.user_id)`.execute(db);
}

export async function isSettled(db: Db, userId: string): Promise<boolean> {
  const { rows } = await sql`select from identity_applicants
    where user_id = ${userId} and (due_at <= now() or lease_until is not null or attempts > 0)`.execute(db);
  return rows.length === 0;
}

/** A user was reviewed if there is an answer for a level, or verified data from an answer that a reset has cleared. */
export async function endApplicant(
  tx: Db,
  userId: string,
): Promise<{ applicantId: string | null; isReviewed: boolean }> {
  const applicants = await sql<{ applicant_id: string | null }>`
    update identity_applicants set due_at = 'infinity' where user_id = ${userId} returning applicant_id`.execute(
    tx,
  );
  const reviews = await sql`select from identity_reviews r where r.user_id = ${userId}
    and (r.answer is not null or exists (select from pii p where p.user_id = r.user_id)) limit 1`.execute(tx);
  return { applicantId: applicants.rows[0]?.applicant_id ?? null, isReviewed: reviews.rows.length > 0 };
}

export async function measureDueApplicants(db: Db): Promise<QueueState> {
  const { rows } = await sql<QueueState>`select count(*)::int as length,
    coalesce(extract(epoch from now() - min(due_at)), 0)::float8 as "oldestSeconds"
    from identity_applicants where due_at <= now()`.execute(db);
  return rows[0] ?? EMPTY_QUEUE;
}

export async function listReviewsOf(db: Db, userId: string) {
  return db
    .selectFrom('identity_reviews')
    .select(['level_name', 'review_status', 'answer', 'reviewed_at'])
    .where('user_id', '=', userId)
    .orderBy('inserted_at')
    .execute();
}
