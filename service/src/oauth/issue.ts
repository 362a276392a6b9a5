import { realTime } from '../clock.ts';
import type { Context } from '../context.ts';
import { SCOPES } from '../http/access.ts';

/** The token reply of the code flow. */
export type TokenReply = {
  access_token: string;
  token_type: 'Bearer';
  expires_in: number;
  refresh_token: string;
  id_token?: string;
  scope: string;
};

type Issue = { clientId: string; userId: string; scopes: readonly string[] };

/** What a completed sign-in gives, without a browser: a grant of the user and real tokens on it. */
export async function issueUserTokens(
  { oauth }: Pick<Context, 'oauth'>,
  { clientId, userId, scopes }: Issue,
): Promise<TokenReply> {
  const provider = oauth.provider();
  const client = await provider.Client.find(clientId);
  if (client === undefined) throw new Error('there is no such client');
  const scope = Object.keys(SCOPES)
    .filter((one) => scopes.includes(one))
    .join(' ');
  const grant = new provider.Grant({ accountId: userId, clientId });
  grant.addOIDCScope(scope);
  const issued = { accountId: userId, client, grantId: await grant.save(), gty: 'authorization_code', scope };
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

type Library = ReturnType<Context['oauth']['provider']>;
type LibraryClient = NonNullable<Awaited<ReturnType<Library['Client']['find']>>>;

/** By the library that knows the client: there can be another one by now, when the keys have changed meanwhile. */
async function issueIdToken(
  { IdToken }: Library,
  claims: Awaited<ReturnType<Context['oauth']['accountClaims']>>,
  scope: string,
  client: LibraryClient,
): Promise<string> {
  // The types ask for the context of a request, which the library itself leaves out for logout tokens.
  const token = new IdToken(claims, { client } as unknown as ConstructorParameters<typeof IdToken>[1]);
  return Object.assign(token, { scope }).issue({ use: 'idtoken' });
}
