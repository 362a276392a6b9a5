import { generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';
import { sql } from 'kysely';
import type { JWK } from 'oidc-provider';
import type { Db } from '../db/pool.ts';
import type { Kernel } from '../kernel.ts';

/** A retired key stays published until the last ID token that it signed has long expired. */
const PUBLISHED_AFTER = '1 day';

type Keys = Pick<Kernel, 'db' | 'sealing' | 'random'>;

/** The published keys, the one that signs first; made when there is none yet. */
export async function loadSigningKeys(ctx: Keys): Promise<JWK[]> {
  const keys = await readKeys(ctx);
  if (keys.length > 0) return keys;
  // RS256 is the one algorithm that every OpenID Connect client has to know (Core 1.0 §15.1).
  const made = await makeKey(ctx);
  // Of several nodes that start on an empty database one makes the key.
  await ctx.db.transaction().execute(async (tx) => {
    await lockKeys(tx);
    const known = await tx
      .selectFrom('oauth_signing_keys')
      .select('kid')
      .where('retired_at', 'is', null)
      .executeTakeFirst();
    if (known === undefined) await tx.insertInto('oauth_signing_keys').values(made).execute();
  });
  return readKeys(ctx);
}

/** From now on a new key signs; the former ones are retired. Running nodes learn of it at once. */
export async function rotateSigningKey(ctx: Keys): Promise<string> {
  const { kid, sealed } = await makeKey(ctx);
  await ctx.db.transaction().execute(async (tx) => {
    await lockKeys(tx);
    await sql`update oauth_signing_keys set retired_at = now() where retired_at is null`.execute(tx);
    await tx.insertInto('oauth_signing_keys').values({ kid, sealed }).execute();
  });
  return kid;
}

/** Seals the keys anew under the newest secret; the keys themselves stay. */
export async function resealSigningKeys({ db, sealing }: Pick<Keys, 'db' | 'sealing'>): Promise<number> {
  return db.transaction().execute(async (tx) => {
    await lockKeys(tx);
    const rows = await tx.selectFrom('oauth_signing_keys').select(['kid', 'sealed']).execute();
    const old = rows.filter(({ sealed }) => !sealed.subarray(0, 4).equals(sealing.newestKeyId));
    for (const { kid, sealed } of old)
      await tx
        .updateTable('oauth_signing_keys')
        .set({ sealed: sealing.seal('jwks', sealing.open('jwks', sealed, kid), kid) })
        .where('kid', '=', kid)
        .execute();
    return old.length;
  });
}

async function lockKeys(tx: Db): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext('oauth_signing_keys'))`.execute(tx);
}

export async function deleteOldKeys(ctx: Pick<Kernel, 'db'>): Promise<void> {
  await sql`delete from oauth_signing_keys where retired_at < now() - ${PUBLISHED_AFTER}::interval`.execute(
    ctx.db,
  );
}

async function readKeys({ db, sealing }: Keys): Promise<JWK[]> {
  const { rows } = await sql<{ kid: string; sealed: Buffer }>`select kid, sealed from oauth_signing_keys
    where retired_at is null or retired_at > now() - ${PUBLISHED_AFTER}::interval
    order by retired_at is not null, inserted_at desc`.execute(db);
  return rows.map(({ kid, sealed }) => JSON.parse(sealing.open('jwks', sealed, kid).toString()));
}

async function makeKey({ sealing, random }: Keys): Promise<{ kid: string; sealed: Buffer }> {
  const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: 2048 });
  const kid = random(12).toString('base64url');
  const key = { ...privateKey.export({ format: 'jwk' }), kid, alg: 'RS256', use: 'sig' };
  return { kid, sealed: sealing.seal('jwks', Buffer.from(JSON.stringify(key)), kid) };
}
