import { randomUUID } from 'node:crypto';
import { SCOPES } from '../../src/kernel/access.ts';
import { hashSecret } from '../../src/kernel/secret-hash.ts';
import { migrate } from '../../src/platform/db/migrate.ts';
import { openPool } from '../../src/platform/db/pool.ts';
import type { Credentials } from './load.ts';

const USERS = 2_000;

/** Migrates the database and inserts a partner, users and their grants. Returns the partner's credentials. */
export async function seedDatabase(url: string): Promise<Credentials> {
  const { pool, close } = openPool(url, { max: 1 });
  const credentials = { client_id: 'rolling-partner', client_secret: `cws_${'x'.repeat(43)}` };
  try {
    await migrate(pool);
    const partnerId = randomUUID();
    await pool.query(`insert into partners (id, name) values ($1, 'Rolling partner')`, [partnerId]);
    await pool.query(
      `insert into oauth_clients (client_id, partner_id, redirect_uris, scopes, secret_hash)
       values ($1, $2, '{https://app.example/callback}', $4, $3)`,
      [credentials.client_id, partnerId, hashSecret(credentials.client_secret), Object.keys(SCOPES)],
    );
    await pool.query(
      `insert into users (id, email, kind) select gen_random_uuid(), 'user' || i || '@rolling.example', 'person'
       from generate_series(1, ${USERS}) i`,
    );
    await pool.query(
      `insert into oauth_grants (id, client_id, user_id, payload, expires_at)
       select md5(id::text), $1, id, jsonb_build_object('accountId', id, 'clientId', $1::text,
         'openid', jsonb_build_object('scope', 'offers:read participations:read')), now() + interval '180 days'
       from users`,
      [credentials.client_id],
    );
    return credentials;
  } finally {
    await close();
  }
}
