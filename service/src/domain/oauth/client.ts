import type { AdapterPayload } from 'oidc-provider';
import type { RegisteredClient } from '../../platform/context/ports.ts';
import type { Db } from '../../platform/db/pool.ts';
import { type ClientRow, selectClient } from './client-store.ts';

export async function findClient(db: Db, clientId: string): Promise<RegisteredClient | undefined> {
  const row = await selectClient(db, clientId);
  return row && registeredClient(row);
}

function registeredClient({
  secret_hash,
  previous_hash,
  read_at: _,
  ...client
}: ClientRow): RegisteredClient {
  return { ...client, secret_hashes: previous_hash === null ? [secret_hash] : [secret_hash, previous_hash] };
}

/**
 * Allows redirects to any port and path on localhost. Only the sandbox registers this pattern. The commands that
 * register clients reject it, because it is not a URI.
 */
export const LOCALHOST_PATTERN = 'http://localhost:*';

/** Clients that have registered `LOCALHOST_PATTERN` may use these URIs without an exact match. */
export function isLocalhost(uri: string): boolean {
  if (!URL.canParse(uri)) return false;
  const { protocol, hostname, username, password, hash } = new URL(uri);
  return protocol === 'http:' && hostname === 'localhost' && username + password + hash === '';
}

export function isPostLogoutRedirect(
  { post_logout_redirect_uris: registered }: Pick<RegisteredClient, 'post_logout_redirect_uris'>,
  uri: string,
): boolean {
  return (
    (uri !== LOCALHOST_PATTERN && registered.includes(uri)) ||
    (registered.includes(LOCALHOST_PATTERN) && isLocalhost(uri))
  );
}

/** Our additional client metadata, available on oidc-provider's `Client`. */
export const EXTRA_METADATA = ['origins', 'secret_hashes', 'any_localhost'] as const;

export type ExtraMetadata = { origins: string[]; secret_hashes: string[]; any_localhost: boolean };

/** Every client is confidential. Calls `onRead` with the database time at which the client was read. */
export async function findClientMetadata(
  db: Db,
  clientId: string,
  onRead: (readAt: string) => void,
): Promise<AdapterPayload | undefined> {
  const row = await selectClient(db, clientId);
  if (row === undefined) return undefined;
  onRead(row.read_at);
  const client = registeredClient(row);
  const hasRedirect = client.redirect_uris.length > 0;
  return {
    client_id: client.client_id,
    // oidc-provider requires a client secret, but never compares this one: `authenticateByHash` compares hashes instead.
    client_secret: 'stored as a hash',
    client_name: client.name,
    ...(client.logo_url !== null && { logo_uri: client.logo_url }),
    redirect_uris: client.redirect_uris.filter((uri) => uri !== LOCALHOST_PATTERN),
    any_localhost: client.redirect_uris.includes(LOCALHOST_PATTERN),
    // oidc-provider accepts the URI schemes of mobile apps only for native clients.
    application_type: client.redirect_uris.every((uri) => /^https?:/.test(uri)) ? 'web' : 'native',
    response_types: hasRedirect ? ['code'] : [],
    response_modes: ['query'],
    grant_types: hasRedirect
      ? ['authorization_code', 'refresh_token', 'client_credentials']
      : ['client_credentials'],
    scope: client.scopes.join(' '),
    origins: client.origins,
    secret_hashes: client.secret_hashes.map((hash) => hash.toString('hex')),
  } satisfies AdapterPayload & ExtraMetadata;
}
