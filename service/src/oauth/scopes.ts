import type Provider from 'oidc-provider';
import type { KoaContextWithOIDC, TokenEndpointGrantContext } from 'oidc-provider';
import { InvalidScope } from 'oidc-provider/lib/helpers/errors.js';
import { PARTNER_SCOPES } from '../http/access.ts';

/** No scope asked means all that the client is registered for. */
export async function defaultScope(
  provider: Provider,
  query: Record<string, unknown>,
): Promise<string | undefined> {
  const { scope, client_id } = query;
  if ((scope !== undefined && scope !== '') || typeof client_id !== 'string') return undefined;
  return (await provider.Client.find(client_id))?.scope;
}

/**
 * The library drops `offline_access` unless the request has `prompt=consent` (OpenID Connect Core 1.0 §11). Here
 * every user has consented to it by name, so it is put back. Runs as the check of a made-up parameter, the one
 * place after the library's own look at the scopes.
 */
export function keepOfflineAccess(ctx: KoaContextWithOIDC): void {
  const { params, client } = ctx.oidc;
  const asked = String(ctx.query.scope ?? '').split(' ');
  if (params === undefined || !asked.includes('offline_access')) return;
  if (!client?.scope?.split(' ').includes('offline_access'))
    throw new InvalidScope('requested scope is not allowed', 'offline_access');
  const scopes = new Set(
    String(params.scope ?? '')
      .split(' ')
      .filter(Boolean),
  );
  params.scope = [...scopes.add('offline_access')].join(' ');
}

/** `client_credentials`, narrowed to what a partner can hold without a user. */
export function partnerTokenGrant(provider: Provider) {
  return async (ctx: TokenEndpointGrantContext<{ scope?: string }>): Promise<void> => {
    const { client, params } = ctx.oidc;
    const registered = new Set(client.scope?.split(' '));
    const allowed = PARTNER_SCOPES.filter((scope) => registered.has(scope));
    const asked = params.scope?.split(' ').filter(Boolean) ?? [];
    const refused = asked.find((scope) => !allowed.some((one) => one === scope));
    if (refused !== undefined)
      throw new InvalidScope('a partner cannot hold this scope without a user', refused);
    const token = new provider.ClientCredentials({
      client,
      scope: [...new Set(asked.length > 0 ? asked : allowed)].join(' '),
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
