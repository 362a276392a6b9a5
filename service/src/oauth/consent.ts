import type Provider from 'oidc-provider';
import type { InteractionResults } from 'oidc-provider';

/** Adds the requested scopes and claims to this browser's grant, or creates the grant. */
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
