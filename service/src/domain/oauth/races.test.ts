import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestApp, testApp, testConfig } from '../../../test/support/app.ts';
import { allow, authorizeUrl, newPkce, obtainCode, postToken } from '../../../test/support/browser.ts';
import { makeClient, makeUser, type TestClient, USER } from '../../../test/support/tokens.ts';
import { copyGrant, findConsent } from './grant-store.ts';

let node: TestApp;
let otherNode: TestApp;
let client: TestClient;
const config = { limits: { ...testConfig().limits, oauth_token: 10_000, introspection: 10_000 } };
beforeAll(async () => {
  node = await testApp({ pages: false, plugins: [allow], config });
  otherNode = await testApp({ databaseUrl: String(node.ctx.pool.options.connectionString), config });
  client = await makeClient(node.ctx);
  await makeUser(node.ctx);
});
afterAll(async () => {
  await otherNode.close();
  await node.close();
});

const isActive = async (token: string) =>
  (await node.app.inject({ method: 'POST', url: '/oauth/introspect', payload: { token } })).json().active;
const runFifty = <T>(work: (app: TestApp['app'], i: number) => Promise<T>) =>
  Promise.all(Array.from({ length: 50 }, (_, i) => work(i % 2 === 0 ? node.app : otherNode.app, i)));

async function signIn() {
  const pkce = newPkce();
  const code = await obtainCode(node.app, authorizeUrl(client.clientId, pkce));
  return { grant_type: 'authorization_code', code, code_verifier: pkce.verifier };
}

test('50 parallel exchanges of one code on two nodes issue tokens once, and the replays revoke them', async () => {
  const params = await signIn();
  const replies = await runFifty((app) => postToken(app, client, params));
  const succeeded = replies.filter(({ statusCode }) => statusCode === 200);
  expect(succeeded).toHaveLength(1);
  for (const reply of replies) if (reply !== succeeded[0]) expect(reply.json().error).toBe('invalid_grant');
  expect(await isActive(succeeded[0]?.json().access_token)).toBe(false);
  expect(
    (
      await postToken(node.app, client, {
        grant_type: 'refresh_token',
        refresh_token: succeeded[0]?.json().refresh_token,
      })
    ).statusCode,
  ).toBe(400);
});

test.each([
  ['far from the expiry', false],
  ['at the rotation', true],
])('50 parallel refreshes %s all succeed', async (_name, isNearExpiry) => {
  const { refresh_token, access_token } = (await postToken(node.app, client, await signIn())).json();
  if (isNearExpiry)
    await node.ctx.pool.query(
      `update oauth_artifacts set payload = payload || jsonb_build_object('iat', extract(epoch from now())::int - 2500000, 'exp', extract(epoch from now())::int + 1000), expires_at = now() + interval '1000 seconds'
       where kind = 'RefreshToken' and hash = sha256($1::bytea)`,
      [Buffer.from(refresh_token)],
    );
  const replies = await runFifty((app) =>
    postToken(app, client, { grant_type: 'refresh_token', refresh_token }),
  );
  expect(replies.map(({ statusCode }) => statusCode)).toEqual(Array(50).fill(200));
  const issued = replies.map((reply) => reply.json());
  expect(new Set(issued.map((reply) => reply.access_token)).size).toBe(50);
  expect(issued.every((reply) => (reply.refresh_token === refresh_token) !== isNearExpiry)).toBe(true);
  for (const token of [access_token, ...issued.map((reply) => reply.access_token)])
    expect(await isActive(token)).toBe(true);
  const next = await postToken(otherNode.app, client, {
    grant_type: 'refresh_token',
    refresh_token: issued[7].refresh_token,
  });
  expect(next.statusCode).toBe(200);
});

test('tokens issued while the grant is being revoked are invalid', async () => {
  const { refresh_token } = (await postToken(node.app, client, await signIn())).json();
  const [revoked, ...replies] = await Promise.all([
    node.app.inject({
      method: 'POST',
      url: '/oauth/revoke',
      payload: { token: refresh_token, client_id: client.clientId, client_secret: client.secret },
    }),
    ...Array.from({ length: 30 }, (_, i) =>
      postToken(i % 2 === 0 ? node.app : otherNode.app, client, {
        grant_type: 'refresh_token',
        refresh_token,
      }),
    ),
  ]);
  expect(revoked?.statusCode).toBe(200);
  for (const reply of replies)
    if (reply.statusCode === 200) expect(await isActive(reply.json().access_token)).toBe(false);
  expect((await postToken(node.app, client, { grant_type: 'refresh_token', refresh_token })).statusCode).toBe(
    400,
  );
});

test('disconnecting an app also ends a grant that is being copied for another browser', async () => {
  await postToken(node.app, client, await signIn());
  const { db, oauth, pool } = node.ctx;
  const consent = String(await findConsent(db, USER, client.clientId));
  let copied = () => {};
  const isCopied = new Promise<void>((resolve) => {
    copied = resolve;
  });
  let commit = () => {};
  const mayCommit = new Promise<void>((resolve) => {
    commit = resolve;
  });
  const copying = db.transaction().execute(async (tx) => {
    const id = await copyGrant(tx, consent);
    copied();
    await mayCommit;
    return id;
  });
  await isCopied;
  const disconnecting = oauth.revokeGrant(USER, client.clientId);
  await Promise.race([disconnecting, sleep(200)]);
  commit();
  await Promise.all([copying, disconnecting]);
  const { rows } = await pool.query(
    'select id from oauth_grants where client_id = $1 and revoked_at is null',
    [client.clientId],
  );
  expect(rows).toEqual([]);
});
