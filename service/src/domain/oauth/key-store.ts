import { sql } from 'kysely';
import type { Db } from '../../platform/db/pool.ts';

export type SealedKey = { kid: string; sealed: Buffer };

/** How long a retired key stays published. The ID tokens that it signed expire much earlier. */
const RETIRED_KEY_TTL = '1 day';

export async function lockKeys(tx: Db): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext('oauth_signing_keys'))`.execute(tx);
}

/** Returns the published keys, the current signing key first. */
export async function listPublishedKeys(db: Db): Promise<SealedKey[]> {
  const { rows } = await sql<SealedKey>`select kid, sealed from oauth_signing_keys
    where retired_at is null or retired_at > now() - ${RETIRED_KEY_TTL}::interval
    order by retired_at is not null, inserted_at desc`.execute(db);
  return rows;
}

export async function listAllKeys(db: Db): Promise<SealedKey[]> {
  return db.selectFrom('oauth_signing_keys').select(['kid', 'sealed']).execute();
}

export async function hasCurrentKey(db: Db): Promise<boolean> {
  const row = await db
    .selectFrom('oauth_signing_keys')
    .select('kid')
    .where('retired_at', 'is', null)
    .executeTakeFirst();
  return row !== undefined;
}

export async function insertKey(db: Db, key: SealedKey): Promise<void> {
  await db.insertInto('oauth_signing_keys').values(key).execute();
}

export async function retireKeys(db: Db): Promise<void> {
  await sql`update oauth_signing_keys set retired_at = now() where retired_at is null`.execute(db);
}

export async function updateSealedKey(db: Db, { kid, sealed }: SealedKey): Promise<void> {
  await db.updateTable('oauth_signing_keys').set({ sealed }).where('kid', '=', kid).execute();
}

export async function deleteRetiredKeys({ db }: { db: Db }): Promise<void> {
  await sql`delete from oauth_signing_keys where retired_at < now() - ${RETIRED_KEY_TTL}::interval`.execute(
    db,
  );
}
