import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import type { AdapterPayload } from 'oidc-provider';
import type { ConnectedApp } from '../../kernel/model/connected-app.ts';
import { deleteInBatches } from '../../platform/db/delete-in-batches.ts';
import type { Db } from '../../platform/db/pool.ts';
import { EXPIRED_RETENTION, type StoredPayload } from './token-store.ts';

/** The search for unused grants is paged: with millions of grants, it would exceed the statement timeout. */
const UNUSED_PAGE_SIZE = 2_000;
const UNUSED_PAGES = 100;

export type NewGrant = {
  id: string;
  clientId: string | undefined;
  userId: string | undefined;
  payload: string;
  lifetimeSeconds: number | undefined;
};

export async function upsertGrant(db: Db, grant: NewGrant): Promise<void> {
  const { id, clientId, userId, payload, lifetimeSeconds } = grant;
  await sql`insert into oauth_grants (id, client_id, user_id, payload, expires_at, consented_redirect_uris)
    values (${id}, ${clientId}, ${userId}, ${payload}, now() + make_interval(secs => ${lifetimeSeconds}),
      (select redirect_uris from oauth_clients where client_id = ${clientId}))
    on conflict (id) do update set payload = excluded.payload, expires_at = excluded.expires_at,
      consented_redirect_uris = excluded.consented_redirect_uris, consented_at = now()`.execute(db);
}

/** Leaves out scopes that the client has lost since the user consented, even if it has regained them. */
export async function findGrant(db: Db, id: string): Promise<StoredPayload | undefined> {
  const { rows } = await sql<StoredPayload & { lost: string[] }>`
    select g.payload, extract(epoch from g.expires_at - now())::float8 as "secondsLeft", array(select r.scope from oauth_removed_scopes r
      where r.client_id = g.client_id and r.removed_at > g.consented_at) as lost
    from oauth_grants g where g.id = ${id} and g.revoked_at is null`.execute(db);
  const [row] = rows;
  return row && { ...row, payload: withoutScopes(row.payload, row.lost) };
}

function withoutScopes(payload: AdapterPayload, lost: readonly string[]): AdapterPayload {
  const { openid } = payload as { openid?: { scope?: string } };
  if (lost.length === 0 || openid?.scope === undefined) return payload;
  const scope = openid.scope.split(' ').filter((each) => !lost.includes(each));
  return { ...payload, openid: { ...openid, scope: scope.join(' ') } };
}

const SAME_REDIRECTS = sql`g.consented_redirect_uris @> c.redirect_uris and g.consented_redirect_uris <@ c.redirect_uris`;

/** Considers only grants to which the user consented while the client had its current redirect URIs. */
export async function findConsent(db: Db, userId: string, clientId: string): Promise<string | null> {
  const { rows } = await sql<{ id: string }>`
    select g.id from oauth_grants g join oauth_clients c on c.client_id = g.client_id
    where g.user_id = ${userId} and g.client_id = ${clientId} and g.revoked_at is null and g.expires_at > now()
      and ${SAME_REDIRECTS}
    order by g.consented_at desc limit 1`.execute(db);
  return rows[0]?.id ?? null;
}

/**
 * Copies a live grant for another browser. The copy keeps the time of the consent. Returns the id of the copy. Locks the
 * original, so that `revokeUserGrants` waits for the copy.
 */
export async function copyGrant(db: Db, id: string): Promise<string> {
  const copyId = randomBytes(32).toString('base64url');
  await sql`insert into oauth_grants (id, client_id, user_id, payload, expires_at, consented_redirect_uris, consented_at)
    select ${copyId}, client_id, user_id, payload, expires_at, consented_redirect_uris, consented_at
    from oauth_grants where id = ${id} and revoked_at is null for share`.execute(db);
  return copyId;
}

export async function hasLapsed(db: Db, id: string): Promise<boolean> {
  const { rows } = await sql`
    select from oauth_grants g join oauth_clients c on c.client_id = g.client_id
    where g.id = ${id} and not (${SAME_REDIRECTS})`.execute(db);
  return rows.length > 0;
}

/** Stops a grant from counting as the user's consent in other browsers. */
export async function forgetConsent(db: Db, id: string): Promise<void> {
  await sql`update oauth_grants set consented_redirect_uris = null where id = ${id}`.execute(db);
}

export async function revokeGrant(db: Db, id: string): Promise<void> {
  await sql`update oauth_grants set revoked_at = now() where id = ${id} and revoked_at is null`.execute(db);
}

/**
 * Revokes the user's grants to one client, or to all clients if `clientId` is absent. Returns the ids of the revoked
 * grants. Repeats the update until it finds no grant: while an update waits for the lock on a grant, a copy of this
 * grant may be committed, and the update does not see the copy.
 */
export async function revokeUserGrants(db: Db, userId: string, clientId?: string): Promise<string[]> {
  const revoked: string[] = [];
  for (;;) {
    const { rows } = await sql<{ id: string }>`
      update oauth_grants set revoked_at = now() where user_id = ${userId} and revoked_at is null
        and (${clientId ?? null}::text is null or client_id = ${clientId ?? null}) returning id`.execute(db);
    if (rows.length === 0) return revoked;
    revoked.push(...rows.map(({ id }) => id));
  }
}

/** Revokes the grant that an artifact, such as an authorization code, belongs to. Returns the ids of revoked grants. */
export async function revokeGrantOfArtifact(db: Db, kind: string, hash: Buffer): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    update oauth_grants set revoked_at = now() where revoked_at is null
      and id = (select grant_id from oauth_artifacts where kind = ${kind} and hash = ${hash}) returning id`.execute(
    db,
  );
  return rows.map(({ id }) => id);
}

/** Returns, by user id, the addresses of those users who let the partner see their address (scope `email`). */
export async function listGrantedEmails(
  db: Db,
  partnerId: string,
  userIds: readonly string[],
): Promise<Map<string, string>> {
  const { rows } = await sql<{ id: string; email: string }>`
    select u.id, u.email from users u
    where u.id = any(${userIds}::uuid[]) and has_granted(u.id, ${partnerId}, 'email')`.execute(db);
  return new Map(rows.map(({ id, email }) => [id, email]));
}

/**
 * Lists the apps that the user has connected. A user can have one grant per browser for the same app, so the grants of
 * each app are merged. Leaves out scopes that the app no longer has.
 */
export async function listConnectedApps(db: Db, userId: string): Promise<ConnectedApp[]> {
  const { rows } = await sql<ConnectedApp>`
    select g.client_id, p.name, p.logo_url, min(g.inserted_at) as connected_at,
      array_agg(s.scope order by s.position) filter (where s.scope is not null) as scopes
    from oauth_grants g join oauth_clients c on c.client_id = g.client_id join partners p on p.id = c.partner_id
    left join unnest(string_to_array(g.payload #>> '{openid,scope}', ' ')) with ordinality as s (scope, position)
      on s.scope = any(c.scopes) and not exists (select from oauth_removed_scopes r
        where r.client_id = g.client_id and r.scope = s.scope and r.removed_at > g.consented_at)
    where g.user_id = ${userId} and g.revoked_at is null and g.expires_at > now()
    group by g.client_id, p.name, p.logo_url order by min(g.inserted_at) desc`.execute(db);
  return rows.map((row) => ({ ...row, scopes: [...new Set(row.scopes ?? [])] }));
}

/**
 * Deletes revoked grants. Also deletes unused grants, which have neither tokens nor artifacts, once they are 15 days old.
 * A younger grant may still be used by a browser session, which lasts 14 days. Runs after expired tokens and artifacts
 * have been deleted.
 */
export async function deleteUnusedGrants({ db }: { db: Db }): Promise<void> {
  await deleteInBatches(db, 'oauth_grants', sql`revoked_at < now() - ${EXPIRED_RETENTION}::interval`);
  // A run covers only part of a large table. Each run starts at a random id, so that every grant is eventually checked.
  let after: string | null = randomBytes(6).toString('base64url');
  let ends = 0;
  for (let page = 0; page < UNUSED_PAGES && ends < 2; page++) {
    after = await deleteUnusedPage(db, after ?? '');
    if (after === null) ends++;
  }
}

/** Returns the last id of the page, or null at the end of the table. */
async function deleteUnusedPage(db: Db, after: string): Promise<string | null> {
  const { rows } = await sql<{ last: string | null }>`
    with page as (
      select id from oauth_grants where id > ${after} order by id limit ${UNUSED_PAGE_SIZE}
    ), deleted as (
      delete from oauth_grants g where g.id in (select id from page) and g.inserted_at < now() - interval '15 days'
        and not exists (select from oauth_tokens t where t.grant_id = g.id)
        and not exists (select from oauth_artifacts a where a.grant_id = g.id)
    )
    select max(id) as last from page`.execute(db);
  return rows[0]?.last ?? null;
}
