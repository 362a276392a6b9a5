import { sql } from 'kysely';
import type { Db } from '../db/pool.ts';
import { hashSecret } from './secrets.ts';

export type Passkey = { id: string; name: string; inserted_at: string; last_used_at: string | null };

type Purpose = 'add' | 'sign_in';

const CHALLENGE_LIFE = '5 minutes';

export async function insertChallenge(
  db: Db,
  challenge: string,
  purpose: Purpose,
  browser: string,
): Promise<void> {
  await sql`
    insert into passkey_challenges (hash, purpose, browser, expires_at)
    values (${hashSecret(challenge)}, ${purpose}, ${hashSecret(browser)}, now() + ${CHALLENGE_LIFE}::interval)`.execute(
    db,
  );
}

/** Of many answers to one challenge, one gets true. */
export async function consumeChallenge(
  db: Db,
  challenge: string,
  purpose: Purpose,
  browser: string,
): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('passkey_challenges')
    .where('hash', '=', hashSecret(challenge))
    .where('purpose', '=', purpose)
    .where('browser', '=', hashSecret(browser))
    .where('expires_at', '>', sql<string>`now()`)
    .executeTakeFirst();
  return numDeletedRows === 1n;
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

/** False when the credential is known already. */
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

export async function touchPasskey(db: Db, id: string, signCount: number): Promise<void> {
  await db
    .updateTable('passkeys')
    .set({ sign_count: BigInt(signCount), last_used_at: sql<string>`now()` })
    .where('id', '=', id)
    .execute();
}

export async function selectCredentialIds(db: Db, userId: string): Promise<Buffer[]> {
  const rows = await db
    .selectFrom('passkeys')
    .select('credential_id')
    .where('user_id', '=', userId)
    .execute();
  return rows.map((row) => row.credential_id);
}

export async function selectPasskeys(db: Db, userId: string): Promise<Passkey[]> {
  return db
    .selectFrom('passkeys')
    .select(['id', 'name', 'inserted_at', 'last_used_at'])
    .where('user_id', '=', userId)
    .orderBy('inserted_at')
    .execute();
}

export async function deletePasskey(db: Db, userId: string, id: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('passkeys')
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return numDeletedRows === 1n;
}
