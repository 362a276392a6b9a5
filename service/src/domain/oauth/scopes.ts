import type Provider from 'oidc-provider';
import type { KoaContextWithOIDC, TokenEndpointGrantContext } from 'oidc-provider';
import { InvalidScope } from 'oidc-provider/lib/helpers/errors.js';
import { isUserScope, PARTNER_SCOPES, SCOPES } from '../../kernel/access.ts';

/** Returns the client's scopes that a user can grant, or undefined if the request names scopes. */
export async function defaultScope(
  provider: Provider,
  query: Record<string, unknown>,
): Promise<string | undefined> {
  const { scope, client_id } = query;
  if ((scope !== undefined && scope !== '') || typeof client_id !== 'string') return undefined;
  const registered = (await provider.Client.find(client_id))?.scope;
  return registered?.split(' ').filter(isUserScope).join(' ');
}

/**
 * Rejects scopes that no user can grant, and restores `offline_access`. oidc-provider drops that scope unless the
 * request has `prompt=consent` (OpenID Connect Core 1.0 §11). Our consent page lists the scope, so the user consents to
 * it anyway.
 *
 * This function is registered as the check of `offline`, an extra parameter that no client has to send. Such a check is
 * the only hook that oidc-provider runs after it has filtered the scopes.
 */
export function checkScopes(ctx: KoaContextWithOIDC): void {
  const { params, client } = ctx.oidc;
  const requested = String(ctx.query.scope ?? '').split(' ');
  if (requested.includes('webhooks:write'))
    throw new InvalidScope('this scope cannot be granted by a user', 'webhooks:write');
  // Unknown scopes are ignored (RFC 6749 §3.3), unless the request has only unknown scopes.
  if (requested.some(Boolean) && !requested.some((scope) => scope in SCOPES))
    throw new InvalidScope('requested scope is unknown', requested.join(' '));
  if (params === undefined || !requested.includes('offline_access')) return;
  if (!client?.scope?.split(' ').includes('offline_access'))
    throw new InvalidScope('requested scope is not allowed', 'offline_access');
  const scopes = new Set(
    String(params.scope ?? '')
      .split(' ')
      .filter(Boolean),
  );
  params.scope = [...scopes.add('offline_access')].join(' ');
}

/** Handles the `client_credentials` grant, limited to scopes that do not need a user. */
export function partnerTokenGrant(provider: Provider) {
  return async (ctx: TokenEndpointGrantContext<{ scope?: string }>): Promise<void> => {
    const { client, params } = ctx.oidc;
    const registered = new Set(client.scope?.split(' '));
    const allowed = PARTNER_SCOPES.filter((scope) => registered.has(scope));
    const requested = params.scope?.split(' ').filter(Boolean) ?? [];
    const forbidden = requested.find((scope) => !allowed.some((known) => known === scope));
    if (forbidden !== undefined) throw new InvalidScope('this scope needs a token for a user', forbidden);
    const token = new provider.ClientCredentials({
      client,
      scope: [...new Set(requested.length > 0 ? requested : allowed)].join(' '),
    });
    ctx.oidc.entity('ClientCredentials', token);
    const value = await token.save();
    ctx.body = {
      access_token: value,
      expires_in: token.expiration,
      token_type: token.tokenType,
      scope: token.scope,
    };
  };
}
