import { sql } from 'kysely';
import { deleteInBatches } from '../../platform/db/delete-in-batches.ts';
import type { Db } from '../../platform/db/pool.ts';
import type { StoredPayload } from './stored-payload.ts';

/**
 * A new authorization code, refresh token, browser session or interaction, depending on `kind`. All kinds share one
 * table.
 */
export type NewArtifact = {
  kind: string;
  hash: Buffer;
  grantId: string | null;
  uid: string | null;
  /** JSON. */
  payload: string;
  lifetimeSeconds: number | undefined;
  /** As for a token: see `NewToken`. */
  checkedAt: string | null;
};

/**
 * `consumed` is null while the artifact is valid. Afterwards, `consumed` is the Unix time at which the artifact became
 * invalid: the time when the artifact was consumed, plus the leeway.
 */
export type StoredArtifact = StoredPayload & { consumed: number | null };

export async function upsertArtifact(db: Db, artifact: NewArtifact): Promise<void> {
  const { kind, hash, grantId, uid, payload, lifetimeSeconds, checkedAt } = artifact;
  await sql`insert into oauth_artifacts (kind, hash, grant_id, uid, payload, expires_at, inserted_at)
    values (${kind}, ${hash}, ${grantId}, ${uid}, ${payload}, now() + make_interval(secs => ${lifetimeSeconds}),
      coalesce(${checkedAt}, now()))
    on conflict (kind, hash) do update set payload = excluded.payload, expires_at = excluded.expires_at`.execute(
    db,
  );
}

/**
 * Reads an artifact. A consumed artifact stays valid for another `leewaySeconds`. Returns undefined if there is no such
 * artifact, or if it belongs to a grant whose partner was re-enabled after the artifact was created.
 */
export async function findArtifact(
  db: Db,
  kind: string,
  hash: Buffer,
  leewaySeconds: number,
): Promise<StoredArtifact | undefined> {
  const end = sql`(a.consumed_at + make_interval(secs => ${leewaySeconds}))`;
  const { rows } = await sql<StoredArtifact>`
    select a.payload, extract(epoch from a.expires_at - now())::float8 as "secondsLeft",
      case when ${end} <= now() then extract(epoch from ${end})::float8 end as consumed
    from oauth_artifacts a left join oauth_grants g on g.id = a.grant_id
    left join oauth_clients c on c.client_id = g.client_id left join partners p on p.id = c.partner_id
    where a.kind = ${kind} and a.hash = ${hash} and (p.id is null or a.inserted_at > p.tokens_valid_from)`.execute(
    db,
  );
  return rows[0];
}

export async function findArtifactByUid(
  db: Db,
  kind: string,
  uid: string,
): Promise<StoredArtifact | undefined> {
  const { rows } = await sql<StoredArtifact>`select payload,
      extract(epoch from expires_at - now())::float8 as "secondsLeft", null::float8 as consumed from oauth_artifacts
    where kind = ${kind} and uid = ${uid} order by expires_at desc limit 1`.execute(db);
  return rows[0];
}

/** Marks the artifact as consumed. Only one of several concurrent calls returns true. */
export async function consumeArtifact(db: Db, kind: string, hash: Buffer): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('oauth_artifacts')
    .set({ consumed_at: sql`now()` })
    .where('kind', '=', kind)
    .where('hash', '=', hash)
    .where('consumed_at', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

export async function deleteArtifact(db: Db, kind: string, hash: Buffer): Promise<void> {
  await db.deleteFrom('oauth_artifacts').where('kind', '=', kind).where('hash', '=', hash).execute();
}

export async function deleteArtifactByUid(db: Db, kind: string, uid: string): Promise<void> {
  await db.deleteFrom('oauth_artifacts').where('kind', '=', kind).where('uid', '=', uid).execute();
}

export async function deleteExpiredArtifacts(db: Db, retention: string): Promise<void> {
  await deleteInBatches(db, 'oauth_artifacts', sql`expires_at < now() - ${retention}::interval`);
}
