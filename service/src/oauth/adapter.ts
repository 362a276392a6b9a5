import { sql } from 'kysely';
import type { Adapter, AdapterPayload } from 'oidc-provider';
import { InvalidGrant } from 'oidc-provider/lib/helpers/errors.js';
import type { Db } from '../db/pool.ts';
import { hashSecret } from '../secret-hash.ts';
import { findClientMetadata } from './client.ts';

/**
 * How long a rotated refresh token still counts as the same request sent again: replies get lost and clients
 * refresh in parallel. Later use is theft.
 */
const REFRESH_LEEWAY = '30 seconds';

/** Stands for the secret of a session that was found without it: enough to end the session, not to use it. */
const BY_UID = 'uid ';

export type Storage = {
  db: Db;
  issuer: string;
  /** Says what has ended, as the database's messages do: this node must know before the reply is out. */
  tell(message: string): void;
};

/** The library's storage: a table for access tokens, one for grants, one for all else. */
export function createAdapter(storage: Storage): (kind: string) => Adapter {
  return (kind) => {
    const unused = {
      findByUserCode: async () => undefined,
      findByUid: async () => undefined,
      consume: async () => undefined,
      // A revoked grant takes all that was issued on it along (see the grants below).
      revokeByGrantId: async () => undefined,
    };
    switch (kind) {
      case 'Client':
        return {
          ...unused,
          find: (id) => findClientMetadata(storage.db, id),
          upsert: refuse,
          destroy: refuse,
        };
      case 'Grant':
        return { ...unused, ...grants(storage) };
      case 'AccessToken':
      case 'ClientCredentials':
        return { ...unused, ...tokens(storage, kind) };
      default:
        return { ...unused, ...artifacts(storage, kind) };
    }
  };
}

async function refuse(): Promise<never> {
  throw new Error('clients are registered by command');
}

function grants({ db, tell }: Storage): Pick<Adapter, 'upsert' | 'find' | 'destroy'> {
  return {
    upsert: async (id, payload) => {
      const { clientId, accountId, exp } = payload;
      await sql`insert into oauth_grants (id, client_id, user_id, payload, expires_at)
        values (${id}, ${clientId}, ${accountId}, ${withoutId(payload)}, to_timestamp(${exp}))
        on conflict (id) do update set payload = excluded.payload, expires_at = excluded.expires_at`.execute(
        db,
      );
    },
    find: async (id) => {
      const row = await db
        .selectFrom('oauth_grants')
        .select('payload')
        .where('id', '=', id)
        .where('revoked_at', 'is', null)
        .executeTakeFirst();
      return row && { ...row.payload, jti: id };
    },
    // One row decides for every token of the grant, those in the making included: the checks of tokens join it.
    destroy: async (id) => {
      await sql`update oauth_grants set revoked_at = now() where id = ${id} and revoked_at is null`.execute(
        db,
      );
      tell(`grant ${id}`);
    },
  };
}

function tokens({ db, tell }: Storage, kind: string): Pick<Adapter, 'upsert' | 'find' | 'destroy'> {
  return {
    upsert: async (id, payload) => {
      const { clientId, grantId = null, accountId = null, scope = '', iat, exp } = payload;
      await sql`insert into oauth_tokens (hash, client_id, grant_id, user_id, scope, payload, issued_at, expires_at)
        values (${hashSecret(id)}, ${clientId}, ${grantId}, ${accountId}, ${scope}, ${withoutId(payload)},
          to_timestamp(${iat}), to_timestamp(${exp}))`.execute(db);
    },
    find: async (id) => {
      const { rows } = await sql<{ payload: AdapterPayload }>`
        select t.payload from oauth_tokens t left join oauth_grants g on g.id = t.grant_id
        where t.hash = ${hashSecret(id)} and t.payload ->> 'kind' = ${kind}
          and (t.grant_id is null or g.revoked_at is null)`.execute(db);
      return rows[0] && { ...rows[0].payload, jti: id };
    },
    destroy: async (id) => {
      const hash = hashSecret(id);
      await db.deleteFrom('oauth_tokens').where('hash', '=', hash).execute();
      tell(`token \\x${hash.toString('hex')}`);
    },
  };
}

type Stored = { payload: AdapterPayload; consumed: number | null };

function artifacts(storage: Storage, kind: string): Omit<Adapter, 'findByUserCode' | 'revokeByGrantId'> {
  const { db, issuer } = storage;
  const restore = (row: Stored | undefined, id: string) => row && restoreSecrets(row, kind, id, issuer);
  const leeway = kind === 'RefreshToken' ? REFRESH_LEEWAY : '0 seconds';
  const consumed = sql`extract(epoch from a.consumed_at + ${leeway}::interval)::float8`;
  return {
    upsert: async (id, payload) => {
      const { grantId = null, uid = null, exp } = payload;
      await sql`insert into oauth_artifacts (kind, hash, grant_id, uid, payload, expires_at)
        values (${kind}, ${hashSecret(id)}, ${grantId}, ${uid}, ${withoutId(payload)}, to_timestamp(${exp}))
        on conflict (kind, hash) do update set payload = excluded.payload, expires_at = excluded.expires_at`.execute(
        db,
      );
    },
    find: async (id) => {
      const { rows } = await sql<Stored>`
        select a.payload, case when a.consumed_at + ${leeway}::interval <= now() then ${consumed} end as consumed
        from oauth_artifacts a where kind = ${kind} and hash = ${hashSecret(id)}`.execute(db);
      return restore(rows[0], id);
    },
    findByUid: async (uid) => {
      const { rows } = await sql<Stored>`select payload, null::float8 as consumed from oauth_artifacts
        where kind = ${kind} and uid = ${uid} order by expires_at desc limit 1`.execute(db);
      return restore(rows[0], BY_UID + uid);
    },
    consume: (id) => (kind === 'RefreshToken' ? consumeRefreshToken(db, id) : consumeOnce(storage, kind, id)),
    destroy: async (id) => {
      const found = id.startsWith(BY_UID)
        ? sql`uid = ${id.slice(BY_UID.length)}`
        : sql`hash = ${hashSecret(id)}`;
      await sql`delete from oauth_artifacts where kind = ${kind} and ${found}`.execute(db);
    },
  };
}

/** Of all who present a code at once one gets through; the others have replayed it, which ends its grant. */
async function consumeOnce({ db, tell }: Storage, kind: string, id: string): Promise<void> {
  const hash = hashSecret(id);
  const { numUpdatedRows } = await db
    .updateTable('oauth_artifacts')
    .set({ consumed_at: sql`now()` })
    .where('kind', '=', kind)
    .where('hash', '=', hash)
    .where('consumed_at', 'is', null)
    .executeTakeFirst();
  if (numUpdatedRows === 1n) return;
  const { rows } = await sql<{
    id: string;
  }>`update oauth_grants set revoked_at = now() where revoked_at is null
    and id = (select grant_id from oauth_artifacts where kind = ${kind} and hash = ${hash}) returning id`.execute(
    db,
  );
  for (const grant of rows) tell(`grant ${grant.id}`);
  throw new InvalidGrant('already consumed');
}

/** The first use starts the leeway; those within it get a successor of their own in the same grant. */
async function consumeRefreshToken(db: Db, id: string): Promise<void> {
  await sql`update oauth_artifacts set consumed_at = coalesce(consumed_at, now())
    where kind = 'RefreshToken' and hash = ${hashSecret(id)}`.execute(db);
}

/** What would let a reader of the database act as somebody is left out and put back by whoever presents it. */
function withoutId({ jti: _jti, returnTo: _returnTo, session, ...rest }: AdapterPayload): string {
  if (session === undefined) return JSON.stringify(rest);
  const { cookie: _cookie, ...known } = session;
  return JSON.stringify({ ...rest, session: known });
}

function restoreSecrets(
  { payload, consumed }: Stored,
  kind: string,
  id: string,
  issuer: string,
): AdapterPayload {
  return {
    ...payload,
    jti: id,
    ...(consumed !== null && { consumed }),
    ...(kind === 'Interaction' && { returnTo: `${issuer}/oauth/authorize/${id}` }),
  };
}
