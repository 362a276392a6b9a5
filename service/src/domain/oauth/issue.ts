import { isUserScope, SCOPES } from '../../kernel/access.ts';
import { realTime } from '../../kernel/clock.ts';
import type { Context } from '../../platform/context/context.ts';
import { forgetConsent } from './grant-store.ts';

export type TokenReply = {
  access_token: string;
  token_type: 'Bearer';
  expires_in: number;
  refresh_token: string;
  id_token?: string;
  scope: string;
};

type TokenRequest = { clientId: string; userId: string; scopes: readonly string[] };

/** Issues tokens without a browser, as if the user had completed a sign-in. Also creates a grant for the tokens. */
export async function issueUserTokens(
  { db, oauth }: Pick<Context, 'db' | 'oauth'>,
  { clientId, userId, scopes }: TokenRequest,
): Promise<TokenReply> {
  const provider = oauth.provider();
  const client = await provider.Client.find(clientId);
  if (client === undefined) throw new Error(`client ${clientId} not found`);
  const scope = Object.keys(SCOPES)
    .filter((one) => isUserScope(one) && scopes.includes(one))
    .join(' ');
  const grant = new provider.Grant({ accountId: userId, clientId });
  grant.addOIDCScope(scope);
  const grantId = await grant.save();
  // The user has not seen the consent page, so it must still be shown when the user first signs in with a browser.
  await forgetConsent(db, grantId);
  const issued = { accountId: userId, client, grantId, gty: 'authorization_code', scope };
  const access = new provider.AccessToken(issued);
  const refresh = new provider.RefreshToken({
    ...issued,
    authTime: Math.floor(realTime() / 1000),
    rotations: 0,
  });
  const reply = {
    access_token: await access.save(),
    token_type: 'Bearer' as const,
    expires_in: access.expiration,
    refresh_token: await refresh.save(),
    scope,
  };
  return scopes.includes('openid')
    ? { ...reply, id_token: await issueIdToken(provider, await oauth.accountClaims(userId), scope, client) }
    : reply;
}

type Provider = ReturnType<Context['oauth']['provider']>;
type Client = NonNullable<Awaited<ReturnType<Provider['Client']['find']>>>;

/**
 * Issues an ID token with the provider that loaded the client. `oauth.provider()` may return another provider by now,
 * because keys may have been rotated.
 */
async function issueIdToken(
  { IdToken }: Provider,
  claims: Awaited<ReturnType<Context['oauth']['accountClaims']>>,
  scope: string,
  client: Client,
): Promise<string> {
  // The types require a request context, but none is needed: oidc-provider itself omits it for logout tokens.
  const token = new IdToken(claims, { client } as unknown as ConstructorParameters<typeof IdToken>[1]);
  return Object.assign(token, { scope }).issue({ use: 'idtoken' });
}
