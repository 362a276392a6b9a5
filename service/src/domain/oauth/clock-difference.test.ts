import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { type TestApp, testApp } from '../../../test/support/app.ts';
import { allow, authorizeUrl, newPkce, obtainCode, postToken } from '../../../test/support/browser.ts';
import { makeClient, makeUser, type TestClient } from '../../../test/support/tokens.ts';

let node: TestApp;
let client: TestClient;
beforeAll(async () => {
  node = await testApp({ pages: false, plugins: [allow] });
  client = await makeClient(node.ctx);
  await makeUser(node.ctx);
});
afterAll(() => node.close());
afterEach(() => void vi.useRealTimers());

/** Moves this node's clock away from the database's clock. */
function moveClock(seconds: number): void {
  vi.useRealTimers();
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + seconds * 1000 });
}

const requestCode = async () => {
  const pkce = newPkce();
  const code = await obtainCode(node.app, authorizeUrl(client.clientId, pkce));
  return { grant_type: 'authorization_code', code, code_verifier: pkce.verifier };
};
const callWith = (token: string, url: string) =>
  node.app.inject({ url, headers: { authorization: `Bearer ${token}` } });
const introspect = async (token: string) =>
  (await node.app.inject({ method: 'POST', url: '/oauth/introspect', payload: { token } })).json();
const TWO_HOURS = 2 * 3600;

test.each([
  ['ahead', -TWO_HOURS],
  ['behind', TWO_HOURS],
])('codes and tokens have their full lifetime with a database clock two hours %s', async (_name, seconds) => {
  moveClock(seconds);
  const issued = (await postToken(node.app, client, await requestCode())).json();
  const { refresh_token } = issued;
  const refreshed = (
    await postToken(node.app, client, { grant_type: 'refresh_token', refresh_token })
  ).json();
  for (const token of [issued.access_token, refreshed.access_token]) {
    expect((await callWith(token, '/v1/offers')).statusCode).toBe(200);
    expect((await callWith(token, '/oauth/userinfo')).statusCode).toBe(200);
    const { active, iat, exp } = await introspect(token);
    expect([active, exp - iat]).toEqual([true, 900]);
  }
});

test('a node whose clock jumps, and a node whose clock is off, accept what was issued before', async () => {
  const early = (await postToken(node.app, client, await requestCode())).json();
  expect((await callWith(early.access_token, '/v1/offers')).statusCode).toBe(200);
  const code = await requestCode();
  moveClock(TWO_HOURS);
  expect((await callWith(early.access_token, '/v1/offers')).statusCode).toBe(200);
  const late = await postToken(node.app, client, code);
  expect(late.statusCode).toBe(200);
  moveClock(-TWO_HOURS);
  expect((await callWith(late.json().access_token, '/oauth/userinfo')).statusCode).toBe(200);
});

test('what has expired for the database has expired, also on a node whose clock is behind', async () => {
  const { access_token, refresh_token } = (await postToken(node.app, client, await requestCode())).json();
  const code = await requestCode();
  for (const table of ['oauth_tokens', 'oauth_artifacts'])
    await node.ctx.pool.query(`update ${table} set expires_at = now() - interval '1 second'`);
  moveClock(-TWO_HOURS);
  for (const url of ['/v1/offers', '/oauth/userinfo'])
    expect((await callWith(access_token, url)).statusCode).toBe(401);
  for (const request of [code, { grant_type: 'refresh_token', refresh_token }])
    expect((await postToken(node.app, client, request)).json().error).toBe('invalid_grant');
});
