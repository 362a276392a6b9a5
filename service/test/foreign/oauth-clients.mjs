import { createRequire } from 'node:module';
import { OAuth2Client as BadgatewayClient, generateCodeVerifier } from '@badgateway/oauth2-client';
import * as arctic from 'arctic';
import * as oauth from 'oauth4webapi';
import { InMemoryWebStorage, OidcClient, WebStorageStateStore } from 'oidc-client-ts';
import * as openid6 from 'openid-client';
import { AuthorizationCode, ClientCredentials } from 'simple-oauth2';

const require = createRequire(import.meta.url);
export const SCOPE = 'openid email offers:read offline_access';

/**
 * Each client signs a user in, and then uses whatever else it supports: refresh, revocation, introspection,
 * client credentials. It returns the access token, which must work. `authorize` plays the browser and returns
 * the URL of the callback.
 */
export const CLIENTS = {
  async 'openid-client 5'({ issuer, clientId, clientSecret, redirectUri, authorize }) {
    const { Issuer, generators } = require('openid-client-5');
    const found = await Issuer.discover(issuer);
    const client = new found.Client({
      client_id: clientId,
      client_secret: clientSecret,
      redirect_uris: [redirectUri],
      response_types: ['code'],
    });
    const code_verifier = generators.codeVerifier();
    const nonce = generators.nonce();
    const url = client.authorizationUrl({
      scope: SCOPE,
      state: 'state',
      nonce,
      code_challenge: generators.codeChallenge(code_verifier),
      code_challenge_method: 'S256',
    });
    const params = client.callbackParams(await authorize(url));
    const tokens = await client.callback(redirectUri, params, { state: 'state', nonce, code_verifier });
    const { sub } = await client.userinfo(tokens);
    if (sub !== tokens.claims().sub) throw new Error('other subject');
    const introspected = await client.introspect(tokens.access_token);
    if (!introspected.active) throw new Error('inactive');
    new URL(client.endSessionUrl({ id_token_hint: tokens }));
    const refreshed = await client.refresh(tokens.refresh_token);
    await client.revoke(tokens.access_token);
    await client.grant({ grant_type: 'client_credentials' });
    return refreshed.access_token;
  },

  async 'openid-client 6'({ issuer, clientId, clientSecret, redirectUri, authorize }) {
    const config = await openid6.discovery(new URL(issuer), clientId, clientSecret, undefined, {
      execute: [openid6.allowInsecureRequests],
    });
    const pkceCodeVerifier = openid6.randomPKCECodeVerifier();
    const url = openid6.buildAuthorizationUrl(config, {
      redirect_uri: redirectUri,
      scope: SCOPE,
      state: 'state',
      code_challenge: await openid6.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
    });
    const callback = new URL(await authorize(url.href));
    const tokens = await openid6.authorizationCodeGrant(config, callback, {
      pkceCodeVerifier,
      expectedState: 'state',
    });
    await openid6.fetchUserInfo(config, tokens.access_token, tokens.claims().sub);
    const refreshed = await openid6.refreshTokenGrant(config, tokens.refresh_token);
    await openid6.tokenIntrospection(config, refreshed.access_token);
    await openid6.tokenRevocation(config, tokens.access_token);
    await openid6.clientCredentialsGrant(config, { scope: 'offers:read' });
    openid6.buildEndSessionUrl(config, { id_token_hint: tokens.id_token });
    return refreshed.access_token;
  },

  async oauth4webapi({ issuer, clientId, clientSecret, redirectUri, authorize }) {
    const insecure = { [oauth.allowInsecureRequests]: true };
    const server = await oauth.processDiscoveryResponse(
      new URL(issuer),
      await oauth.discoveryRequest(new URL(issuer), { algorithm: 'oauth2', ...insecure }),
    );
    const client = { client_id: clientId };
    const verifier = oauth.generateRandomCodeVerifier();
    const url = new URL(server.authorization_endpoint);
    url.search = new URLSearchParams({
      client_id: clientId,
      redirect_uri: redirectUri,
      response_type: 'code',
      scope: SCOPE,
      state: 'state',
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
    const params = oauth.validateAuthResponse(server, client, new URL(await authorize(url.href)), 'state');
    const secret = oauth.ClientSecretBasic(clientSecret);
    const response = await oauth.authorizationCodeGrantRequest(
      ...[server, client, secret, params, redirectUri, verifier, insecure],
    );
    return (await oauth.processAuthorizationCodeResponse(server, client, response)).access_token;
  },

  async 'oidc-client-ts'({ issuer, clientId, clientSecret, redirectUri, authorize }) {
    const client = new OidcClient({
      authority: issuer,
      client_id: clientId,
      client_secret: clientSecret,
      redirect_uri: redirectUri,
      response_type: 'code',
      scope: SCOPE,
      stateStore: new WebStorageStateStore({ store: new InMemoryWebStorage() }),
      post_logout_redirect_uri: redirectUri,
    });
    const { url } = await client.createSigninRequest({});
    const { access_token, id_token } = await client.processSigninResponse(await authorize(url));
    await client.createSignoutRequest({ id_token_hint: id_token });
    return access_token;
  },

  async 'passport-oauth2'({ issuer, clientId, clientSecret, redirectUri, authorize }) {
    const Strategy = require('passport-oauth2');
    const session = {};
    const run = (query) =>
      new Promise((resolve, reject) => {
        const strategy = new Strategy(
          {
            authorizationURL: `${issuer}/oauth/authorize`,
            tokenURL: `${issuer}/oauth/token`,
            clientID: clientId,
            clientSecret,
            callbackURL: redirectUri,
            scope: SCOPE.split(' '),
            state: true,
            pkce: true,
            customHeaders: {},
          },
          (accessToken, _refreshToken, _profile, done) => done(null, { accessToken }),
        );
        Object.assign(strategy, {
          redirect: resolve,
          success: ({ accessToken }) => resolve(accessToken),
          fail: (info) => reject(new Error(JSON.stringify(info))),
          error: reject,
        });
        strategy.authenticate({ query, body: {}, session, headers: {}, connection: {} }, {});
      });
    const callback = new URL(await authorize(await run({})));
    return run(Object.fromEntries(callback.searchParams));
  },

  async 'simple-oauth2'({ issuer, clientId, clientSecret, redirectUri, authorize }) {
    const auth = { tokenHost: issuer, tokenPath: '/oauth/token', revokePath: '/oauth/revoke' };
    const client = { id: clientId, secret: clientSecret };
    const flow = new AuthorizationCode({ client, auth: { ...auth, authorizePath: '/oauth/authorize' } });
    const verifier = oauth.generateRandomCodeVerifier();
    const url = flow.authorizeURL({
      redirect_uri: redirectUri,
      scope: SCOPE,
      state: 'state',
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
    const code = new URL(await authorize(url)).searchParams.get('code');
    const token = await flow.getToken({ code, redirect_uri: redirectUri, code_verifier: verifier });
    const refreshed = await token.refresh();
    await token.revoke('access_token');
    await new ClientCredentials({ client, auth }).getToken({ scope: 'offers:read' });
    return refreshed.token.access_token;
  },

  async arctic({ issuer, clientId, clientSecret, redirectUri, authorize }) {
    const client = new arctic.OAuth2Client(clientId, clientSecret, redirectUri);
    const verifier = arctic.generateCodeVerifier();
    const url = client.createAuthorizationURLWithPKCE(
      ...[`${issuer}/oauth/authorize`, 'state', arctic.CodeChallengeMethod.S256, verifier, SCOPE.split(' ')],
    );
    const code = new URL(await authorize(url.href)).searchParams.get('code');
    const tokens = await client.validateAuthorizationCode(`${issuer}/oauth/token`, code, verifier);
    const refreshed = await client.refreshAccessToken(`${issuer}/oauth/token`, tokens.refreshToken(), []);
    await client.revokeToken(`${issuer}/oauth/revoke`, tokens.accessToken());
    return refreshed.accessToken();
  },

  async '@badgateway/oauth2-client'({ issuer, clientId, clientSecret, redirectUri, authorize }) {
    const client = new BadgatewayClient({
      server: issuer,
      clientId,
      clientSecret,
      discoveryEndpoint: '/.well-known/oauth-authorization-server',
    });
    const codeVerifier = await generateCodeVerifier();
    const url = await client.authorizationCode.getAuthorizeUri({
      redirectUri,
      state: 'state',
      codeVerifier,
      scope: SCOPE.split(' '),
    });
    const callback = await authorize(url);
    const token = await client.authorizationCode.getTokenFromCodeRedirect(callback, {
      redirectUri,
      state: 'state',
      codeVerifier,
    });
    if (!(await client.introspect(token)).active) throw new Error('inactive');
    const refreshed = await client.refreshToken(token);
    await client.revoke(token);
    await client.clientCredentials({ scope: ['offers:read'] });
    return refreshed.accessToken;
  },
};
