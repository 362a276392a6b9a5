import * as oauth4webapi from 'oauth4webapi';
import * as openidClient from 'openid-client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestApp, testApp } from '../../../test/support/app.ts';
import { allow, newBrowser } from '../../../test/support/browser.ts';
import { makeClient, makeUser, REDIRECT, type TestClient, USER } from '../../../test/support/tokens.ts';

let node: TestApp;
let client: TestClient;
beforeAll(async () => {
  node = await testApp({ listen: true, pages: false, plugins: [allow] });
  client = await makeClient(node.ctx);
  await makeUser(node.ctx, USER, 'ada@user.test');
});
afterAll(() => node.close());

const insecure = { [oauth4webapi.allowInsecureRequests]: true };

async function discover(): Promise<oauth4webapi.AuthorizationServer> {
  const issuer = new URL(node.ctx.baseUrl);
  return oauth4webapi.processDiscoveryResponse(issuer, await oauth4webapi.discoveryRequest(issuer, insecure));
}

test('oauth4webapi completes the code flow, refresh, introspection, userinfo and revocation', async () => {
  const as = await discover();
  const me = { client_id: client.clientId };
  const auth = oauth4webapi.ClientSecretBasic(client.secret);
  const verifier = oauth4webapi.generateRandomCodeVerifier();
  const [state, nonce] = [oauth4webapi.generateRandomState(), oauth4webapi.generateRandomNonce()];
  const url = new URL(String(as.authorization_endpoint));
  for (const [name, value] of Object.entries({
    client_id: client.clientId,
    redirect_uri: REDIRECT,
    response_type: 'code',
    scope: 'openid email offers:read offline_access',
    code_challenge: await oauth4webapi.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
    nonce,
  }))
    url.searchParams.set(name, value);
  const { callback } = await newBrowser(node.app).open(url.href);
  const params = oauth4webapi.validateAuthResponse(as, me, callback as URL, state);
  const tokens = await oauth4webapi.processAuthorizationCodeResponse(
    as,
    me,
    await oauth4webapi.authorizationCodeGrantRequest(as, me, auth, params, REDIRECT, verifier, insecure),
    { expectedNonce: nonce, requireIdToken: true },
  );
  expect(tokens).toMatchObject({
    token_type: 'bearer',
    expires_in: 900,
    scope: 'openid email offers:read offline_access',
  });
  const claims = oauth4webapi.getValidatedIdTokenClaims(tokens);
  expect(claims).toMatchObject({ sub: USER, email: 'ada@user.test', aud: client.clientId });

  const userinfo = await oauth4webapi.userInfoRequest(as, me, tokens.access_token, insecure);
  expect(await oauth4webapi.processUserInfoResponse(as, me, USER, userinfo)).toMatchObject({
    email: 'ada@user.test',
  });

  const introspection = await oauth4webapi.introspectionRequest(as, me, auth, tokens.access_token, insecure);
  expect(await oauth4webapi.processIntrospectionResponse(as, me, introspection)).toEqual({
    active: true,
    client_id: client.clientId,
    exp: expect.any(Number),
    iat: expect.any(Number),
    iss: node.ctx.baseUrl,
    scope: 'openid email offers:read offline_access',
    sub: USER,
    username: 'ada@user.test',
  });

  const refreshed = await oauth4webapi.processRefreshTokenResponse(
    as,
    me,
    await oauth4webapi.refreshTokenGrantRequest(as, me, auth, String(tokens.refresh_token), insecure),
  );
  expect(refreshed.refresh_token).toBe(tokens.refresh_token);
  expect(refreshed.access_token).not.toBe(tokens.access_token);

  const revocation = await oauth4webapi.revocationRequest(
    as,
    me,
    auth,
    String(tokens.refresh_token),
    insecure,
  );
  await oauth4webapi.processRevocationResponse(revocation);
  for (const token of [tokens.access_token, refreshed.access_token]) {
    const reply = await oauth4webapi.introspectionRequest(as, me, auth, token, insecure);
    expect(await oauth4webapi.processIntrospectionResponse(as, me, reply)).toEqual({ active: false });
  }
});

test('openid-client completes the same flow and gets a partner token', async () => {
  const options = { execute: [openidClient.allowInsecureRequests] };
  const config = await openidClient.discovery(
    new URL(node.ctx.baseUrl),
    client.clientId,
    client.secret,
    undefined,
    options,
  );
  const pkceCodeVerifier = openidClient.randomPKCECodeVerifier();
  const expectedState = openidClient.randomState();
  const url = openidClient.buildAuthorizationUrl(config, {
    redirect_uri: REDIRECT,
    scope: 'openid',
    code_challenge: await openidClient.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
    state: expectedState,
  });
  const { callback } = await newBrowser(node.app).open(url.href);
  const tokens = await openidClient.authorizationCodeGrant(config, callback as URL, {
    pkceCodeVerifier,
    expectedState,
  });
  expect(tokens.claims()).toMatchObject({ sub: USER, iss: node.ctx.baseUrl });
  expect((await openidClient.refreshTokenGrant(config, String(tokens.refresh_token))).access_token).toMatch(
    /^[\w-]{43}$/,
  );
  await openidClient.tokenRevocation(config, String(tokens.refresh_token));
  expect(await openidClient.tokenIntrospection(config, tokens.access_token)).toEqual({ active: false });

  const partner = await openidClient.clientCredentialsGrant(config, { scope: 'offers:read' });
  expect(partner).toMatchObject({ scope: 'offers:read', expires_in: 900 });
  expect(partner).not.toHaveProperty('refresh_token');
});

test('both discovery documents are identical, and the keys are public', async () => {
  const [oidc, oauth] = await Promise.all(
    ['openid-configuration', 'oauth-authorization-server'].map(async (name) =>
      (await node.app.inject(`/.well-known/${name}`)).json(),
    ),
  );
  expect(oidc).toEqual(oauth);
  expect(oidc).toMatchObject({
    issuer: node.ctx.baseUrl,
    code_challenge_methods_supported: ['S256'],
    introspection_endpoint: `${node.ctx.baseUrl}/oauth/introspect`,
  });
  const { keys } = (await node.app.inject('/oauth/jwks')).json();
  expect(Object.keys(keys[0]).sort()).toEqual(['alg', 'e', 'kid', 'kty', 'n', 'use']);
});
