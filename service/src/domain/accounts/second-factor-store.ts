import { sql } from 'kysely';
import type { Db } from '../../platform/db/pool.ts';

export type TotpSecret = { sealed_secret: Buffer; confirmed_at: string | null };

/** Replaces an older unconfirmed secret. Returns false if the user has a confirmed one. */
export async function upsertUnconfirmedSecret(db: Db, userId: string, sealed: Buffer): Promise<boolean> {
  const { numAffectedRows } =
    await sql`insert into totp_secrets as s (user_id, sealed_secret) values (${userId}, ${sealed})
    on conflict (user_id) do update set sealed_secret = excluded.sealed_secret, inserted_at = now()
    where s.confirmed_at is null`.execute(db);
  return numAffectedRows === 1n;
}

export async function findTotpSecret(db: Db, userId: string): Promise<TotpSecret | undefined> {
  return db
    .selectFrom('totp_secrets')
    .select(['sealed_secret', 'confirmed_at'])
    .where('user_id', '=', userId)
    .executeTakeFirst();
}

/** Confirms the secret. Only one of several concurrent calls returns true. */
export async function confirmSecret(db: Db, userId: string, sealed: Buffer, step: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('totp_secrets')
    .set({ confirmed_at: sql<string>`now()`, last_step: BigInt(step) })
    .where('user_id', '=', userId)
    .where('sealed_secret', '=', sealed)
    .where('confirmed_at', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** Accepts each time step only once. Returns false if the code for this step or a later one has already been used. */
export async function consumeStep(db: Db, userId: string, step: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('totp_secrets')
    .set({ last_step: BigInt(step) })
    .where('user_id', '=', userId)
    .where('confirmed_at', 'is not', null)
    .where('last_step', '<', BigInt(step))
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

export async function replaceRecoveryCodes(db: Db, userId: string, hashes: readonly Buffer[]): Promise<void> {
  await db.deleteFrom('recovery_codes').where('user_id', '=', userId).execute();
  await db
    .insertInto('recovery_codes')
    .values(hashes.map((hash) => ({ user_id: userId, hash })))
    .execute();
}

/** Deletes the code. Only one of several concurrent calls returns true. */
export async function consumeRecoveryCode(db: Db, userId: string, hash: Buffer): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('recovery_codes')
    .where('user_id', '=', userId)
    .where('hash', '=', hash)
    .executeTakeFirst();
  return numDeletedRows === 1n;
}

export async function countRecoveryCodes(db: Db, userId: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from recovery_codes where user_id = ${userId}`.execute(db);
  return rows[0]?.count ?? 0;
}

export async function deleteSecondFactorOf(db: Db, userId: string): Promise<boolean> {
  await db.deleteFrom('recovery_codes').where('user_id', '=', userId).execute();
  const deleted = await db
    .deleteFrom('totp_secrets')
    .where('user_id', '=', userId)
    .returning('confirmed_at')
    .executeTakeFirst();
  return deleted !== undefined && deleted.confirmed_at !== null;
}

export async function lockSecretsToReseal(db: Db, keyId: Buffer, limit: number) {
  return db
    .selectFrom('totp_secrets')
    .select(['user_id', 'sealed_secret'])
    .where('key_id', '<>', keyId)
    .orderBy('user_id')
    .limit(limit)
    .forUpdate()
    .execute();
}

export async function replaceSealedSecret(db: Db, userId: string, sealed: Buffer): Promise<void> {
  await db.updateTable('totp_secrets').set({ sealed_secret: sealed }).where('user_id', '=', userId).execute();
}
