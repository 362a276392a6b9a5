import { sql } from 'kysely';
import type Provider from 'oidc-provider';
import type { InteractionResults } from 'oidc-provider';
import type { Db } from '../db/pool.ts';

/** A partner's app that a user has connected. */
export type ConnectedApp = {
  client_id: string;
  name: string;
  logo_url: string | null;
  scopes: string[];
  /** When the user allowed it first. */
  connected_at: string;
};

type Row = Omit<ConnectedApp, 'scopes'> & { scopes: string[] };

/** A user may have allowed one app in several browsers, each of which made a grant of its own. */
export async function listConnectedApps(db: Db, userId: string): Promise<ConnectedApp[]> {
  const { rows } = await sql<Row>`
    select g.client_id, p.name, p.logo_url, min(g.inserted_at) as connected_at,
      string_to_array(string_agg(g.payload #>> '{openid,scope}', ' '), ' ') as scopes
    from oauth_grants g join oauth_clients c on c.client_id = g.client_id join partners p on p.id = c.partner_id
    where g.user_id = ${userId} and g.revoked_at is null and g.expires_at > now()
    group by g.client_id, p.name, p.logo_url order by min(g.inserted_at) desc`.execute(db);
  return rows.map((row) => ({ ...row, scopes: [...new Set(row.scopes ?? [])] }));
}

/** Gives the ids of the grants that ended. */
export async function revokeGrants(db: Db, userId: string, clientId?: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    update oauth_grants set revoked_at = now() where user_id = ${userId} and revoked_at is null
      and (${clientId ?? null}::text is null or client_id = ${clientId ?? null}) returning id`.execute(db);
  return rows.map(({ id }) => id);
}

/** Adds what the user was asked for to the grant of this browser, or makes that grant. */
export async function allowConsent(
  provider: Provider,
  { grantId, prompt, params, session }: InstanceType<Provider['Interaction']>,
): Promise<InteractionResults> {
  const known = grantId === undefined ? undefined : await provider.Grant.find(grantId);
  if (session?.accountId === undefined) throw new Error('consent was given by nobody');
  const grant =
    known ?? new provider.Grant({ accountId: session.accountId, clientId: String(params.client_id) });
  const missing = prompt.details.missingOIDCScope;
  if (Array.isArray(missing)) grant.addOIDCScope(missing.join(' '));
  const claims = prompt.details.missingOIDCClaims;
  if (Array.isArray(claims)) grant.addOIDCClaims(claims);
  return { consent: { grantId: await grant.save() } };
}
