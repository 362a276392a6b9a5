import { sql } from 'kysely';
import type { RegisteredClient } from '../../platform/context/ports.ts';
import type { Db } from '../../platform/db/pool.ts';

export type ClientRow = Omit<RegisteredClient, 'secret_hashes'> & {
  secret_hash: Buffer;
  previous_hash: Buffer | null;
  read_at: string;
};

export async function selectClient(db: Db, clientId: string): Promise<ClientRow | undefined> {
  // PostgreSQL refuses text with NUL. The id may come from a token that is not verified yet.
  if (clientId.includes('\0')) return undefined;
  const { rows } = await sql<ClientRow>`
    select c.client_id, c.partner_id, p.name, p.logo_url, p.origins, c.redirect_uris, c.post_logout_redirect_uris,
      c.scopes, c.secret_hash,
      case when c.previous_secret_until > now() then c.previous_secret_hash end as previous_hash,
      now() as read_at
    from oauth_clients c join partners p on p.id = c.partner_id
    where c.client_id = ${clientId} and p.disabled_at is null`.execute(db);
  return rows[0];
}

export async function listOrigins(db: Db): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{
    origin: string;
  }>`select distinct unnest(origins) as origin from partners where disabled_at is null`.execute(db);
  return new Set(rows.map(({ origin }) => origin));
}
