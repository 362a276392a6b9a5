import { cacheToken } from '../cache-token.ts';
import { type Causeway, createCauseway } from '../client.ts';
import type { CausewayOptions } from '../request.ts';
import { throwAsCausewayError } from './client-error.ts';
import { type ClientCredentials, requestTokens } from './token-endpoint.ts';

export type PartnerClientOptions = Omit<CausewayOptions, 'accessToken'> &
  ClientCredentials & {
    /** The scopes to request. Default: all scopes that the client may use without a user. */
    scope?: string | readonly string[] | undefined;
  };

/**
 * Creates a client that acts for the partner itself (client credentials). The client can read all of the partner's
 * offers and participations, but no user's personal data. Concurrent calls share one cached token.
 *
 * @example
 * ```ts
 * import { partnerClient } from '@causeway/sdk/server';
 *
 * const partner = partnerClient({
 *   baseUrl: 'http://127.0.0.1:8080',
 *   clientId: 'sandbox-partner',
 *   clientSecret: process.env.CAUSEWAY_CLIENT_SECRET ?? '',
 * });
 * for await (const offer of partner.offers.list()) console.log(offer.slug);
 * ```
 */
export function partnerClient(options: PartnerClientOptions): Causeway {
  const { clientId: _id, clientSecret: _secret, clientAuth: _auth, scope, ...rest } = options;
  const scopes = typeof scope === 'string' ? scope : scope?.join(' ');
  const accessToken = cacheToken(async () => {
    const grant = { grant_type: 'client_credentials', ...(scopes !== undefined && { scope: scopes }) };
    const { access_token, expires_in } = await requestTokens(options, grant).catch(throwAsCausewayError);
    return { token: access_token, expiresInS: expires_in };
  });
  return createCauseway({ ...rest, accessToken });
}
