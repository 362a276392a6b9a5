import { sql } from 'kysely';
import { deleteInBatches } from '../../platform/db/delete-in-batches.ts';
import type { Db } from '../../platform/db/pool.ts';
import type { StoredPayload } from './stored-payload.ts';

export type NewToken = {
  hash: Buffer;
  clientId: string | undefined;
  grantId: string | null;
  userId: string | null;
  scope: string;
  /** JSON. */
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

export async function deleteExpiredTokens(db: Db, retention: string): Promise<void> {
  await deleteInBatches(db, 'oauth_tokens', sql`expires_at < now() - ${retention}::interval`);
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
  /** Unix time, by the database's clock. */
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
