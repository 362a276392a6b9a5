import type Provider from 'oidc-provider';
import type { InteractionResults, KoaContextWithOIDC } from 'oidc-provider';
import type { Db } from '../../platform/db/pool.ts';
import { copyGrant, findConsent, hasLapsed } from './grant-store.ts';

/** Adds the requested scopes and the requested claims to this browser's grant. Creates the grant if there is none. */
export async function grantConsent(
  provider: Provider,
  { grantId, prompt, params, session }: InstanceType<Provider['Interaction']>,
): Promise<InteractionResults> {
  const existing = grantId === undefined ? undefined : await provider.Grant.find(grantId);
  if (session?.accountId === undefined) throw new Error('consent without a signed-in user');
  const grant =
    existing ?? new provider.Grant({ accountId: session.accountId, clientId: String(params.client_id) });
  const scopes = prompt.details.missingOIDCScope;
  if (Array.isArray(scopes)) grant.addOIDCScope(scopes.join(' '));
  const claims = prompt.details.missingOIDCClaims;
  if (Array.isArray(claims)) grant.addOIDCClaims(claims);
  return { consent: { grantId: await grant.save() } };
}

type Grant = InstanceType<Provider['Grant']>;

/**
 * Returns the grant for a sign-in, or undefined if the user has to consent first. Uses the first of these that exists:
 * - the grant for the consent that the user has just given
 * - the grant of this browser's session
 * - a copy of the user's newest grant, which expires with its original
 *
 * Each browser has its own grant, so that a stolen token causes only one browser's grant to be revoked.
 */
export async function loadConsent(
  { laneDb, requestDb }: { laneDb(): Db; requestDb(): Db },
  { oidc }: KoaContextWithOIDC,
): Promise<Grant | undefined> {
  const { provider, session, client, result } = oidc;
  if (client === undefined) return undefined;
  const given = result?.consent?.grantId;
  if (given !== undefined) return provider.Grant.find(given);
  const own = session?.grantIdFor(client.clientId);
  if (own !== undefined && own !== '') {
    const grant = await provider.Grant.find(own);
    if (grant !== undefined) return (await hasLapsed(laneDb(), own)) ? undefined : grant;
  }
  if (session?.accountId === undefined) return undefined;
  const newest = await findConsent(laneDb(), session.accountId, client.clientId);
  if (newest === null) return undefined;
  const copy = await requestDb()
    .transaction()
    .execute((tx) => copyGrant(tx, newest));
  return provider.Grant.find(copy);
}
