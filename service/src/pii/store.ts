import { sql } from 'kysely';
import type { UserKind } from '../accounts/user.ts';
import type { PiiAudit } from '../db/identity-tables.ts';
import type { Db } from '../db/pool.ts';
import type { SealedPii } from './sealed-data.ts';

export type AuditEntry = Pick<PiiAudit, 'user_id' | 'actor' | 'action' | 'fields'>;

export type PiiRow = SealedPii & {
  version: number;
  is_stale: boolean;
  as_of: string;
  restricted_until: string | null;
};

/** The user with the sealed data, and the entry in the audit that says so: one statement, so neither is without the other. */
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

/** Locks the user's data until the transaction ends, also when there is none yet. */
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

/** The provider no longer stands behind what it told us. */
export async function markPiiStale(db: Db, userId: string, asOf: string): Promise<void> {
  await db
    .updateTable('pii')
    .set({ is_stale: true, as_of: asOf })
    .where('user_id', '=', userId)
    .where('as_of', '<=', asOf)
    .execute();
}

/** The sealed facts and what they are worth. */
export async function readSealedFacts(db: Db, userId: string) {
  return db
    .selectFrom('pii')
    .select(['sealed_facts', 'version'])
    .where('user_id', '=', userId)
    .executeTakeFirst();
}

/** Up to `limit` rows under another key than `keyId`, locked; those that others hold are left to them. */
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

export async function isErased(db: Db, userId: string): Promise<boolean> {
  const found = await db
    .selectFrom('erasures')
    .select('user_id')
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return found !== undefined;
}
