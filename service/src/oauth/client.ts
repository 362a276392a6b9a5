import { sql } from 'kysely';
import type { AdapterPayload } from 'oidc-provider';
import type { Db } from '../db/pool.ts';

/** A registered client with its partner, while the partner is not disabled. */
export type RegisteredClient = {
  client_id: string;
  partner_id: string;
  name: string;
  logo_url: string | null;
  origins: string[];
  redirect_uris: string[];
  scopes: string[];
  /** One, or two while the secret is being replaced. */
  secret_hashes: Buffer[];
};

export async function findClient(db: Db, clientId: string): Promise<RegisteredClient | undefined> {
  const { rows } = await sql<
    Omit<RegisteredClient, 'secret_hashes'> & { secret_hash: Buffer; previous: Buffer | null }
  >`
    select c.client_id, c.partner_id, p.name, p.logo_url, p.origins, c.redirect_uris, c.scopes, c.secret_hash,
      case when c.previous_secret_until > now() then c.previous_secret_hash end as previous
    from oauth_clients c join partners p on p.id = c.partner_id
    where c.client_id = ${clientId} and p.disabled_at is null`.execute(db);
  if (rows[0] === undefined) return undefined;
  const { secret_hash, previous, ...client } = rows[0];
  return { ...client, secret_hashes: previous === null ? [secret_hash] : [secret_hash, previous] };
}

/** Members of a client's metadata that are ours; the library hands them back on its `Client`. */
export const OWN_METADATA = ['origins', 'secret_hashes'] as const;

export type OwnMetadata = { origins: string[]; secret_hashes: string[] };

/** The client as the library knows it. Every client is confidential. */
export async function findClientMetadata(db: Db, clientId: string): Promise<AdapterPayload | undefined> {
  const client = await findClient(db, clientId);
  if (client === undefined) return undefined;
  const signsIn = client.redirect_uris.length > 0;
  return {
    client_id: client.client_id,
    // The library wants one; secrets are compared by hash (see `compareClientSecret`), never with this.
    client_secret: 'kept as a hash',
    client_name: client.name,
    ...(client.logo_url !== null && { logo_uri: client.logo_url }),
    redirect_uris: client.redirect_uris,
    response_types: signsIn ? ['code'] : [],
    response_modes: ['query'],
    grant_types: signsIn
      ? ['authorization_code', 'refresh_token', 'client_credentials']
      : ['client_credentials'],
    scope: client.scopes.join(' '),
    origins: client.origins,
    secret_hashes: client.secret_hashes.map((hash) => hash.toString('hex')),
  } satisfies AdapterPayload & OwnMetadata;
}
