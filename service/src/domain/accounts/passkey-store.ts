import { sql } from 'kysely';
import { hashSecret } from '../../kernel/secret-hash.ts';
import { deleteInBatches } from '../../platform/db/delete-in-batches.ts';
import type { Db } from '../../platform/db/pool.ts';

export type Passkey = { id: string; name: string; inserted_at: string; last_used_at: string | null };

type ChallengePurpose = 'add' | 'sign_in';

const CHALLENGE_TTL = '5 minutes';

export async function insertChallenge(
  db: Db,
  challenge: string,
  purpose: ChallengePurpose,
  cookie: string,
): Promise<void> {
  await sql`
    insert into passkey_challenges (hash, purpose, browser, expires_at)
    values (${hashSecret(challenge)}, ${purpose}, ${hashSecret(cookie)}, now() + ${CHALLENGE_TTL}::interval)`.execute(
    db,
  );
}

/** Deletes the challenge. Only one of several concurrent calls returns true. */
export async function consumeChallenge(
  db: Db,
  challenge: string,
  purpose: ChallengePurpose,
  cookie: string,
): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('passkey_challenges')
    .where('hash', '=', hashSecret(challenge))
    .where('purpose', '=', purpose)
    .where('browser', '=', hashSecret(cookie))
    .where('expires_at', '>', sql<string>`now()`)
    .executeTakeFirst();
  return numDeletedRows === 1n;
}

export async function deleteExpiredChallenges({ db }: { db: Db }): Promise<void> {
  await deleteInBatches(db, 'passkey_challenges', sql`expires_at < now()`);
}

type NewPasskey = {
  id: string;
  user_id: string;
  credential_id: Buffer;
  public_key: Buffer;
  sign_count: number;
  transports: string[];
  name: string;
};

/** Stores a passkey. Returns false if the credential is already registered. */
export async function insertPasskey(db: Db, passkey: NewPasskey): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('passkeys')
    .values({ ...passkey, sign_count: BigInt(passkey.sign_count) })
    .onConflict((conflict) => conflict.column('credential_id').doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

export async function findPasskey(db: Db, credentialId: Buffer) {
  return db
    .selectFrom('passkeys')
    .select(['id', 'user_id', 'public_key', 'sign_count', 'transports'])
    .where('credential_id', '=', credentialId)
    .executeTakeFirst();
}

/** Records a use of the passkey. Returns false if the passkey was deleted. */
export async function touchPasskey(db: Db, id: string, signCount: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('passkeys')
    .set({ sign_count: BigInt(signCount), last_used_at: sql<string>`now()` })
    .where('id', '=', id)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

export async function listCredentialIds(db: Db, userId: string): Promise<Buffer[]> {
  const rows = await db
    .selectFrom('passkeys')
    .select('credential_id')
    .where('user_id', '=', userId)
    .execute();
  return rows.map((row) => row.credential_id);
}

export async function listPasskeys(db: Db, userId: string): Promise<Passkey[]> {
  return db
    .selectFrom('passkeys')
    .select(['id', 'name', 'inserted_at', 'last_used_at'])
    .where('user_id', '=', userId)
    .orderBy('inserted_at')
    .execute();
}

export async function deletePasskey(db: Db, userId: string, id: string): Promise<void> {
  await db.deleteFrom('passkeys').where('id', '=', id).where('user_id', '=', userId).execute();
}

export async function deletePasskeysOf(db: Db, userId: string): Promise<void> {
  await db.deleteFrom('passkeys').where('user_id', '=', userId).execute();
}
