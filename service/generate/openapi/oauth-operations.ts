import Type from 'typebox';
import { ACR_VALUES } from '../../src/domain/oauth/acr.ts';
import { SCOPES } from '../../src/kernel/access.ts';
import { Closed, Uri } from '../../src/kernel/wire.ts';
import type { ExtraOperation } from './operation.ts';

/** This file describes, for the API reference, the endpoints that oidc-provider and the hosted pages serve. */

const Text = Type.String();
const Optional = (description: string) => Type.Optional(Type.String({ description }));
const credentials = {
  client_id: Optional('Required unless sent as HTTP Basic.'),
  client_secret: Optional('Required unless sent as HTTP Basic.'),
};
const scope = Type.Optional(
  Type.String({
    description: `One or more of these scopes, separated by spaces: ${Object.keys(SCOPES).join(', ')}.`,
  }),
);

const TokenRequest = Type.Union(
  [
    Closed(
      {
        grant_type: Type.Literal('authorization_code'),
        code: Type.String({ examples: ['3tQ8WcC1bH0dFvGm2nJ5kL7pR9sT4uX6yZ1aB3cD5e'] }),
        redirect_uri: Type.String({
          description: 'The same as in the authorization request.',
          examples: ['https://partner.example/callback'],
        }),
        code_verifier: Type.String({ examples: ['dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'] }),
        ...credentials,
      },
      { title: 'AuthorizationCodeGrant' },
    ),
    Closed(
      { grant_type: Type.Literal('refresh_token'), refresh_token: Text, scope, ...credentials },
      { title: 'RefreshTokenGrant' },
    ),
    Closed(
      { grant_type: Type.Literal('client_credentials'), scope, ...credentials },
      { title: 'ClientCredentialsGrant' },
    ),
  ],
  { title: 'TokenRequest' },
);

const Token = Closed(
  {
    access_token: Text,
    token_type: Type.Literal('Bearer'),
    expires_in: Type.Integer({ description: 'Seconds.' }),
    refresh_token: Optional('Only for the authorization code and refresh token grants.'),
    id_token: Optional('With the scope `openid`.'),
    scope: Text,
  },
  { title: 'Token' },
);

const AuthorizationQuery = Type.Object({
  response_type: Type.Literal('code'),
  client_id: Text,
  redirect_uri: Type.String({ description: 'Exactly as registered.' }),
  state: Optional('Returned unchanged. To prevent CSRF, check that it matches the value you sent.'),
  code_challenge: Type.String({ description: 'The SHA-256 of the code verifier, in base64url (RFC 7636).' }),
  code_challenge_method: Type.Literal('S256'),
  scope,
  prompt: Optional('`login` or `consent` shows that page again. `none` shows no page.'),
  login_hint: Optional('The email address to prefill on the sign-in page.'),
  nonce: Optional('Returned in the ID token.'),
  acr_values: Optional(
    `How the user should sign in, as a list of values separated by spaces: ${ACR_VALUES.map((value) => `\`${value}\``).join(' (a passkey) or ')} (two factors). In the ID token, \`acr\` says which value the sign-in met. Unknown values are ignored.`,
  ),
});

const LogoutQuery = Type.Object({
  id_token_hint: Optional("The user's ID token. Without it, the user must confirm the sign-out on a page."),
  client_id: Optional('Required if there is no `id_token_hint`.'),
  post_logout_redirect_uri: Optional('Exactly as registered.'),
  state: Optional('Returned unchanged.'),
});

const Discovery = Type.Object(
  {
    issuer: Uri,
    authorization_endpoint: Uri,
    token_endpoint: Uri,
    jwks_uri: Uri,
    scopes_supported: Type.Array(Text),
  },
  {
    title: 'Discovery',
    additionalProperties: true,
    description: 'Metadata according to RFC 8414 and OpenID Connect Discovery.',
  },
);
const Revocation = Closed({ token: Text, token_type_hint: Optional('Ignored.'), ...credentials });
const UserInfo = Closed(
  { sub: Text, email: Optional('With the scope `email`.'), email_verified: Type.Optional(Type.Boolean()) },
  { title: 'UserInfo' },
);
const KeySet = Closed(
  { keys: Type.Array(Type.Object({}, { additionalProperties: true })) },
  { title: 'KeySet' },
);

/** The empty requirement stands for credentials in the body, which OpenAPI cannot express as a security requirement. */
const CLIENT = [{ clientSecret: [] }, {}];

export const oauthOperations: readonly ExtraOperation[] = [
  {
    method: 'get',
    path: '/oauth/authorize',
    operationId: 'authorize',
    summary: 'Sign a user in',
    description:
      'Open this URL in the browser. The user signs in and consents on our pages. Then the browser returns to `redirect_uri` with `code`, `state` and `iss`, or with `error`.',
    security: [],
    query: AuthorizationQuery,
    reply: null,
    errors: [],
  },
  {
    method: 'post',
    path: '/oauth/token',
    operationId: 'createToken',
    summary: 'Get tokens',
    description:
      'Exchanges an authorization code, a refresh token or client credentials for tokens. Call it from your server only. A code is valid for 60 seconds, an access token for 15 minutes, and a refresh token for 30 days. In the last nine days of a refresh token, using it returns a new one.',
    security: CLIENT,
    body: TokenRequest,
    reply: Token,
    errors: ['unauthorized', 'rate_limited'],
  },
  {
    method: 'post',
    path: '/oauth/revoke',
    operationId: 'revokeToken',
    summary: 'Revoke a token',
    description:
      'Replies 200 even if the token is invalid (RFC 7009). Revoking a refresh token ends its access tokens on every node within a second.',
    security: CLIENT,
    body: Revocation,
    reply: Closed({}, { title: 'Revoked' }),
    errors: ['unauthorized', 'rate_limited'],
  },
  {
    method: 'get',
    path: '/oauth/userinfo',
    operationId: 'getUserInfo',
    summary: 'Get claims about the user',
    description: 'Accepts user tokens with the scope `openid`.',
    security: [{ userToken: ['openid'] }],
    reply: UserInfo,
    errors: ['unauthorized', 'insufficient_scope', 'rate_limited'],
  },
  {
    method: 'get',
    path: '/oauth/logout',
    operationId: 'endSession',
    summary: 'Sign the user out',
    description:
      'Open this URL in the browser (RP-initiated logout). It ends the session on our pages, and the browser returns to `post_logout_redirect_uri` with `state`. Tokens stay valid: revoke them too if your app no longer needs them.',
    security: [],
    query: LogoutQuery,
    reply: null,
    errors: [],
  },
  {
    method: 'get',
    path: '/oauth/jwks',
    operationId: 'getKeys',
    summary: 'Get the public keys that verify ID tokens',
    description: 'A JSON Web Key Set. Keys rotate: fetch the set again when you see an unknown `kid`.',
    security: [],
    reply: KeySet,
    errors: [],
  },
  ...(['openid-configuration', 'oauth-authorization-server'] as const).map(
    (name): ExtraOperation => ({
      method: 'get',
      path: `/.well-known/${name}`,
      operationId: name === 'openid-configuration' ? 'getOpenIdConfiguration' : 'getAuthorizationServer',
      summary: name === 'openid-configuration' ? 'Discover the OpenID provider' : 'Discover the OAuth server',
      description: 'Most OAuth libraries read everything they need from here.',
      security: [],
      reply: Discovery,
      errors: [],
    }),
  ),
];
