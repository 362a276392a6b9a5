import { randomUUID } from 'node:crypto';
import { copyFile, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { migrate } from '../../src/db/migrate.ts';
import { openPool } from '../../src/db/pool.ts';
import { SCOPES } from '../../src/http/access.ts';
import { hashSecret } from '../../src/secret-hash.ts';
import type { Credentials } from './load.ts';

const MIGRATIONS = fileURLToPath(new URL('../../src/db/migrations/', import.meta.url));
const LAST_OF_0_1 = '0013';
const USERS = 2_000;

/**
 * Creates a database in the state of version 0.1, with a partner, users, their grants and tokens, and events.
 */
export async function createOldDatabase(url: string): Promise<Credentials> {
  const folder = await mkdtemp(join(tmpdir(), 'causeway-migrations-'));
  const { pool, close } = openPool(url, { max: 1 });
  const credentials = { client_id: 'old-partner', client_secret: `cws_${'x'.repeat(43)}` };
  try {
    for (const name of await readdir(MIGRATIONS))
      if (name.slice(0, 4) <= LAST_OF_0_1) await copyFile(join(MIGRATIONS, name), join(folder, name));
    await migrate(pool, folder);
    const partnerId = randomUUID();
    await pool.query(`insert into partners (id, name) values ($1, 'Old partner')`, [partnerId]);
    await pool.query(
      `insert into oauth_clients (client_id, partner_id, redirect_uris, scopes, secret_hash)
       values ($1, $2, '{https://app.example/callback}', $4, $3)`,
      [credentials.client_id, partnerId, hashSecret(credentials.client_secret), Object.keys(SCOPES)],
    );
    await pool.query(
      `insert into users (id, email, kind) select gen_random_uuid(), 'user' || i || '@old.example', 'person'
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
    await rm(folder, { recursive: true, force: true });
  }
}
