import { type Causeway, createCauseway } from '../client.ts';
import { keepToken } from '../keep-token.ts';
import type { CausewayOptions } from '../request.ts';
import { throwAsCausewayError } from './client-error.ts';
import { type ClientCredentials, requestTokens } from './token-endpoint.ts';

export type PartnerClientOptions = Omit<CausewayOptions, 'accessToken'> &
  ClientCredentials & {
    /** All that the client may have on its own unless told. */
    scope?: string | readonly string[] | undefined;
  };

/**
 * A client that acts for the partner itself (client credentials): all its offers and all its participations, no user's
 * data. The token is kept until near its end and asked for once, however many calls wait for it.
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
  const asked = typeof scope === 'string' ? scope : scope?.join(' ');
  const accessToken = keepToken(async () => {
    const grant = { grant_type: 'client_credentials', ...(asked !== undefined && { scope: asked }) };
    const { access_token, expires_in } = await requestTokens(options, grant).catch(throwAsCausewayError);
    return { token: access_token, seconds: expires_in };
  });
  return createCauseway({ ...rest, accessToken });
}
