import { sql } from 'kysely';
import type { AdapterPayload } from 'oidc-provider';
import { deleteInBatches } from '../../platform/db/delete-in-batches.ts';
import type { Db } from '../../platform/db/pool.ts';

/** How long expired and revoked rows are kept, so that requests in flight still find them. */
export const EXPIRED_RETENTION = '1 hour';

/** `secondsLeft`: how long the payload stays valid, by the database's clock. */
export type StoredPayload = { payload: AdapterPayload; secondsLeft: number };

export type NewToken = {
  hash: Buffer;
  clientId: string | undefined;
  grantId: string | null;
  userId: string | null;
  scope: string;
  payload: string;
  lifetimeSeconds: number | undefined;
  /**
   * When the request checked that the partner is enabled. Null stands for the current time. The value becomes
   * `inserted_at`. So if the partner is disabled and enabled again while the request runs, the token is not valid.
   */
  checkedAt: string | null;
};

export async function insertToken(db: Db, token: NewToken): Promise<void> {
  const { hash, clientId, grantId, userId, scope, payload, lifetimeSeconds, checkedAt } = token;
  await sql`insert into oauth_tokens
      (hash, client_id, grant_id, user_id, scope, payload, issued_at, expires_at, inserted_at)
    values (${hash}, ${clientId}, ${grantId}, ${userId}, ${scope}, ${payload},
      now(), now() + make_interval(secs => ${lifetimeSeconds}), coalesce(${checkedAt}, now()))`.execute(db);
}

export async function findTokenPayload(
  db: Db,
  kind: string,
  hash: Buffer,
): Promise<StoredPayload | undefined> {
  const { rows } = await sql<StoredPayload>`
    select t.payload, extract(epoch from t.expires_at - now())::float8 as "secondsLeft" from oauth_tokens t join oauth_clients c on c.client_id = t.client_id
    join partners p on p.id = c.partner_id left join oauth_grants g on g.id = t.grant_id
    where t.hash = ${hash} and t.payload ->> 'kind' = ${kind} and t.inserted_at > p.tokens_valid_from
      and (t.grant_id is null or g.revoked_at is null)`.execute(db);
  return rows[0];
}

export async function deleteToken(db: Db, hash: Buffer): Promise<void> {
  await db.deleteFrom('oauth_tokens').where('hash', '=', hash).execute();
}

export async function deleteTokensOf(db: Db, userId: string): Promise<void> {
  await sql`delete from oauth_tokens where user_id = ${userId}`.execute(db);
}

export async function deleteExpiredTokens({ db }: { db: Db }): Promise<void> {
  await deleteInBatches(db, 'oauth_tokens', sql`expires_at < now() - ${EXPIRED_RETENTION}::interval`);
}

export type ActiveToken = {
  client_id: string;
  partner_id: string;
  origins: string[];
  user_id: string | null;
  grant_id: string | null;
  email: string | null;
  scope: string;
  client_scopes: string[];
  /** The scopes that the client has lost since the token was issued. The client may have regained some of them. */
  removed_scopes: string[];
  iat: number;
  exp: number;
  seconds_left: number;
};

/**
 * Returns the token if it is unexpired and unrevoked, and its partner is enabled. Finds the token, its client and partner
 * and, for a user token, its grant and account by primary key, in one statement.
 */
export async function findActiveToken(db: Db, hash: Buffer): Promise<ActiveToken | undefined> {
  const { rows } = await sql<ActiveToken>`
    select t.client_id, c.partner_id, p.origins, t.user_id, t.grant_id, u.email, t.scope,
      c.scopes as client_scopes, array(select r.scope from oauth_removed_scopes r
        where r.client_id = c.client_id and r.removed_at > t.inserted_at) as removed_scopes,
      extract(epoch from t.issued_at)::float8 as iat,
      extract(epoch from least(t.expires_at, g.expires_at))::float8 as exp,
      extract(epoch from least(t.expires_at, g.expires_at) - now())::float8 as seconds_left
    from oauth_tokens t
    join oauth_clients c on c.client_id = t.client_id
    join partners p on p.id = c.partner_id
    left join oauth_grants g on g.id = t.grant_id
    left join users u on u.id = t.user_id
    where t.hash = ${hash} and least(t.expires_at, g.expires_at) > now() and p.disabled_at is null
      and t.inserted_at > p.tokens_valid_from
      and (t.grant_id is null or (g.revoked_at is null and u.id is not null))`.execute(db);
  return rows[0];
}

/** An authorization code, refresh token, browser session or interaction, depending on `kind`. */
export type NewArtifact = {
  kind: string;
  hash: Buffer;
  grantId: string | null;
  uid: string | null;
  payload: string;
  lifetimeSeconds: number | undefined;
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

export async function deleteExpiredArtifacts({ db }: { db: Db }): Promise<void> {
  await deleteInBatches(db, 'oauth_artifacts', sql`expires_at < now() - ${EXPIRED_RETENTION}::interval`);
}
