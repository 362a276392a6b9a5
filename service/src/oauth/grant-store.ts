import { sql } from 'kysely';
import type { AdapterPayload } from 'oidc-provider';
import { deleteInBatches } from '../db/delete-in-batches.ts';
import type { Db } from '../db/pool.ts';
import type { ConnectedApp } from './connected-app.ts';

export type NewGrant = {
  id: string;
  clientId: string | undefined;
  userId: string | undefined;
  /** JSON. */
  payload: string;
  /** Unix time. */
  exp: number | undefined;
};

export async function upsertGrant(db: Db, { id, clientId, userId, payload, exp }: NewGrant): Promise<void> {
  await sql`insert into oauth_grants (id, client_id, user_id, payload, expires_at)
    values (${id}, ${clientId}, ${userId}, ${payload}, to_timestamp(${exp}))
    on conflict (id) do update set payload = excluded.payload, expires_at = excluded.expires_at`.execute(db);
}

export async function findGrant(db: Db, id: string): Promise<AdapterPayload | undefined> {
  const row = await db
    .selectFrom('oauth_grants')
    .select('payload')
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
  return row?.payload;
}

export async function revokeGrant(db: Db, id: string): Promise<void> {
  await sql`update oauth_grants set revoked_at = now() where id = ${id} and revoked_at is null`.execute(db);
}

/** Revokes the user's grants to one client, or to all of them. Returns the ids of the revoked grants. */
export async function revokeUserGrants(db: Db, userId: string, clientId?: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    update oauth_grants set revoked_at = now() where user_id = ${userId} and revoked_at is null
      and (${clientId ?? null}::text is null or client_id = ${clientId ?? null}) returning id`.execute(db);
  return rows.map(({ id }) => id);
}

/** Revokes the grant that an artifact, such as an authorization code, belongs to. Returns the ids of the revoked grants. */
export async function revokeGrantOfArtifact(db: Db, kind: string, hash: Buffer): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    update oauth_grants set revoked_at = now() where revoked_at is null
      and id = (select grant_id from oauth_artifacts where kind = ${kind} and hash = ${hash}) returning id`.execute(
    db,
  );
  return rows.map(({ id }) => id);
}

/** Returns the users with a live grant of `email` to the partner. */
export async function listEmailGrants(
  db: Db,
  partnerId: string,
  userIds: readonly string[],
): Promise<{ id: string; email: string }[]> {
  const { rows } = await sql<{ id: string; email: string }>`
    select u.id, u.email from users u where u.id = any(${userIds}::uuid[]) and exists (
      select from oauth_grants g join oauth_clients c on c.client_id = g.client_id
      where g.user_id = u.id and c.partner_id = ${partnerId} and g.revoked_at is null and g.expires_at > now()
        and 'email' = any(string_to_array(g.payload #>> '{openid,scope}', ' ')))`.execute(db);
  return rows;
}

/** Merges the grants of each app: a user who allowed an app in several browsers has one grant per browser. */
export async function listConnectedApps(db: Db, userId: string): Promise<ConnectedApp[]> {
  const { rows } = await sql<ConnectedApp>`
    select g.client_id, p.name, p.logo_url, min(g.inserted_at) as connected_at,
      string_to_array(string_agg(g.payload #>> '{openid,scope}', ' '), ' ') as scopes
    from oauth_grants g join oauth_clients c on c.client_id = g.client_id join partners p on p.id = c.partner_id
    where g.user_id = ${userId} and g.revoked_at is null and g.expires_at > now()
    group by g.client_id, p.name, p.logo_url order by min(g.inserted_at) desc`.execute(db);
  return rows.map((row) => ({ ...row, scopes: [...new Set(row.scopes ?? [])] }));
}

/**
 * Deletes grants that were revoked more than `retention` ago, and unused ones. A grant without tokens is kept for
 * 15 days: a browser session (14 days) may still return to it.
 */
export async function deleteUnusedGrants(db: Db, retention: string): Promise<void> {
  await deleteInBatches(db, 'oauth_grants', sql`revoked_at < now() - ${retention}::interval`);
  const unused = sql`inserted_at < now() - interval '15 days'
    and not exists (select from oauth_tokens t where t.grant_id = oauth_grants.id)
    and not exists (select from oauth_artifacts a where a.grant_id = oauth_grants.id)`;
  await deleteInBatches(db, 'oauth_grants', unused);
}
