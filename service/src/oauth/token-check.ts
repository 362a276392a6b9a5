import type pg from 'pg';
import { type Caller, newCaller } from '../http/access.ts';

/** An access token that was found good, with all that a check or an introspection tells of it. */
export type VerifiedToken = {
  caller: Caller;
  scope: string;
  /** The user's e-mail address. */
  username: string | null;
  /** Seconds. */
  iat: number;
  exp: number;
  /** Milliseconds. */
  expiresAt: number;
  /** By what it can end early, as the database's messages name it. */
  tags: { token: string; grant: string | null; client: string; partner: string; user: string | null };
};

type Row = {
  client_id: string;
  partner_id: string;
  origins: string[];
  user_id: string | null;
  grant_id: string | null;
  email: string | null;
  scope: string;
  iat: number;
  exp: number;
};

/** One read by primary keys: the token, its client and partner, and for users the grant and the account. */
const CHECK = {
  name: 'oauth_token_check',
  text: `select t.client_id, c.partner_id, p.origins, t.user_id, t.grant_id, u.email, t.scope,
      extract(epoch from t.issued_at)::float8 as iat, extract(epoch from t.expires_at)::float8 as exp
    from oauth_tokens t
    join oauth_clients c on c.client_id = t.client_id
    join partners p on p.id = c.partner_id
    left join oauth_grants g on g.id = t.grant_id
    left join users u on u.id = t.user_id
    where t.hash = $1 and t.expires_at > now() and p.disabled_at is null
      and (t.grant_id is null or (g.revoked_at is null and u.id is not null))`,
};

export async function readToken(pool: pg.Pool, hash: Buffer): Promise<VerifiedToken | null> {
  const { rows } = await pool.query<Row>({ ...CHECK, values: [hash] });
  const row = rows[0];
  if (row === undefined) return null;
  return {
    caller: newCaller({
      clientId: row.client_id,
      partnerId: row.partner_id,
      userId: row.user_id,
      scopes: new Set(row.scope.split(' ')),
      origins: new Set(row.origins),
    }),
    scope: row.scope,
    username: row.email,
    iat: row.iat,
    exp: row.exp,
    expiresAt: row.exp * 1000,
    tags: {
      token: `\\x${hash.toString('hex')}`,
      grant: row.grant_id,
      client: row.client_id,
      partner: row.partner_id,
      user: row.user_id,
    },
  };
}
