import { type Insertable, sql } from 'kysely';
import type { UserKind } from '../../kernel/model/personal-data.ts';
import type { Context } from '../../platform/context/context.ts';
import type { Db } from '../../platform/db/pool.ts';
import type { Database } from '../../platform/db/tables.ts';
import type { SealedPii } from './sealed-data.ts';

type AuditEntry = Pick<Database['pii_audit'], 'user_id' | 'actor' | 'action' | 'fields'>;

type PiiRow = SealedPii & {
  version: number;
  is_stale: boolean;
  as_of: string;
  restricted_until: string | null;
};

/** Reads the sealed data and writes the audit entry in one statement, so that no read goes unrecorded. */
export async function readSealedPii(
  db: Db,
  entry: AuditEntry,
): Promise<{ kind: UserKind; sealed: Buffer | null } | undefined> {
  const { rows } = await sql<{ kind: UserKind; sealed: Buffer | null }>`
    with audit as (insert into pii_audit (user_id, actor, action, fields)
      values (${entry.user_id}, ${entry.actor}, ${entry.action}, ${entry.fields}))
    select u.kind, p.sealed from users u left join pii p on p.user_id = u.id and p.restricted_until is null
    where u.id = ${entry.user_id}`.execute(db);
  return rows[0];
}

export async function insertAudit(db: Db, entry: AuditEntry): Promise<void> {
  await db.insertInto('pii_audit').values(entry).execute();
}

/** Locks the user's data until the transaction ends, even if no data is stored yet. */
export async function lockPii(db: Db, userId: string): Promise<PiiRow | undefined> {
  await sql`select pg_advisory_xact_lock(hashtext('pii'), hashtext(${userId}))`.execute(db);
  return db
    .selectFrom('pii')
    .select(['sealed', 'sealed_facts', 'version', 'is_stale', 'as_of', 'restricted_until'])
    .where('user_id', '=', userId)
    .forUpdate()
    .executeTakeFirst();
}

export async function upsertPii(
  db: Db,
  userId: string,
  row: SealedPii & { version: number; as_of: string },
): Promise<void> {
  const values = { ...row, is_stale: false, updated_at: sql<string>`now()` };
  await db
    .insertInto('pii')
    .values({ user_id: userId, restricted_until: null, ...values })
    .onConflict((conflict) => conflict.column('user_id').doUpdateSet(values))
    .execute();
}

/** Marks the data as no longer confirmed by the identity provider, unless the data is newer than `asOf`. */
export async function markPiiStale(db: Db, userId: string, asOf: string): Promise<void> {
  await db
    .updateTable('pii')
    .set({ is_stale: true, as_of: asOf })
    .where('user_id', '=', userId)
    .where('as_of', '<=', asOf)
    .execute();
}

export async function readSealedFacts(db: Db, userId: string) {
  return db
    .selectFrom('pii')
    .select(['sealed_facts', 'version'])
    .where('user_id', '=', userId)
    .executeTakeFirst();
}

export async function lockRowsToRotate(db: Db, keyId: Buffer, limit: number) {
  return db
    .selectFrom('pii')
    .select(['user_id', 'sealed', 'sealed_facts'])
    .where('key_id', '<>', keyId)
    .orderBy('user_id')
    .limit(limit)
    .forUpdate()
    .skipLocked()
    .execute();
}

export async function countRowsToRotate(db: Db, keyId: Buffer): Promise<number> {
  const { rows } = await sql<{
    n: number;
  }>`select count(*)::int as n from pii where key_id <> ${keyId}`.execute(db);
  return rows[0]?.n ?? 0;
}

export async function replaceSealed(db: Db, userId: string, sealed: SealedPii): Promise<void> {
  await db.updateTable('pii').set(sealed).where('user_id', '=', userId).execute();
}

export async function findErasure(
  db: Db,
  userId: string,
): Promise<{ keep_until: string | null } | undefined> {
  return db.selectFrom('erasures').select('keep_until').where('user_id', '=', userId).executeTakeFirst();
}

export async function insertErasure(db: Db, erasure: Insertable<Database['erasures']>): Promise<void> {
  const { kept, keep_until } = erasure;
  await db
    .insertInto('erasures')
    .values(erasure)
    .onConflict((conflict) => conflict.column('user_id').doUpdateSet({ kept, keep_until }))
    .execute();
}

export async function deletePii(db: Db, userId: string): Promise<boolean> {
  const { rows } = await sql`delete from pii where user_id = ${userId} returning 1`.execute(db);
  return rows.length > 0;
}

/** Until then, the service no longer shows or uses the data. Returns false if the user has no data. */
export async function restrictPii(db: Db, userId: string, until: string): Promise<boolean> {
  const { rows } = await sql`
    update pii set restricted_until = ${until} where user_id = ${userId} returning 1`.execute(db);
  return rows.length > 0;
}

export async function deletePiiPastRetention(db: Db, now: string): Promise<string[]> {
  const { rows } = await sql<{ user_id: string }>`
    delete from pii where restricted_until < ${now} returning user_id`.execute(db);
  return rows.map(({ user_id }) => user_id);
}

const DAY_MS = 86_400_000;
const DELETION_BATCH_SIZE = 5_000;

/** Finds the oldest records by id, which increases with time, so the column `at` needs no index. */
export async function deleteOldAccesses({
  db,
  clock,
  config,
}: Pick<Context, 'db' | 'clock' | 'config'>): Promise<void> {
  const before = new Date(clock.now() - config.retention.auditDays * DAY_MS).toISOString();
  for (let count = DELETION_BATCH_SIZE; count === DELETION_BATCH_SIZE; ) {
    const { numAffectedRows } = await sql`delete from pii_audit where id in (
      select id from (select id, at from pii_audit order by id limit ${DELETION_BATCH_SIZE}) oldest
      where at < ${before})`.execute(db);
    count = Number(numAffectedRows ?? 0n);
  }
}

export async function insertCountryChange(
  db: Db,
  change: { user_id: string; changed_at: string; is_flagged: boolean },
): Promise<void> {
  await db
    .insertInto('country_changes')
    .values({ ...change, approved_at: null })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

type OpenChange = { user_id: string; email: string; changed_at: string; sealed_facts: Buffer };

/** A change is flagged if the country policy or an offer rejects the old place but not the new one. */
export async function listOpenChanges(db: Db): Promise<OpenChange[]> {
  const { rows } = await sql<OpenChange>`
    select c.user_id, u.email, c.changed_at, p.sealed_facts from country_changes c join users u on u.id = c.user_id
      join pii p on p.user_id = c.user_id and p.restricted_until is null
    where c.approved_at is null and c.is_flagged order by c.changed_at, c.user_id limit 1000`.execute(db);
  return rows;
}

export async function approveChanges(db: Db, userId: string, now: string): Promise<number> {
  const { rows } = await sql`update country_changes set approved_at = ${now}
    where user_id = ${userId} and approved_at is null returning 1`.execute(db);
  return rows.length;
}

export async function replaceFacts(db: Db, userId: string, sealed_facts: Buffer): Promise<void> {
  await db.updateTable('pii').set({ sealed_facts }).where('user_id', '=', userId).execute();
}
