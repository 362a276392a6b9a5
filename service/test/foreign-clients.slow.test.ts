import { execFile } from 'node:child_process';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestApp, testApp } from './support/app.ts';
import { allow } from './support/browser.ts';
import { installDebianPackages, installPackages } from './support/packages.ts';
import { makeClient, makeUser } from './support/tokens.ts';

const NAMES = [
  'openid-client 5',
  'openid-client 6',
  'oauth4webapi',
  'oidc-client-ts',
  'Auth.js',
  'next-auth 4',
  'passport-oauth2',
  'simple-oauth2',
  'arctic',
  'better-auth',
  '@badgateway/oauth2-client',
];
/**
 * The address of the partner's app that uses these libraries. Nothing listens on this address, because the test passes
 * each library its callback directly.
 */
const ORIGIN = 'http://localhost:9998';
const PATHS = ['/callback', '/auth/callback/causeway', '/api/auth/oauth2/callback/causeway'];

let node: TestApp;
let settings: string;
let results: Record<string, { token?: string; error?: string }>;

beforeAll(async () => {
  node = await testApp({ listen: true, pages: false, plugins: [allow] });
  const { clientId, secret } = await makeClient(node.ctx);
  await makeUser(node.ctx);
  const uris = PATHS.map((path) => ORIGIN + path);
  await sql`update oauth_clients set redirect_uris = ${uris} where client_id = ${clientId}`.execute(
    node.ctx.db,
  );
  const folder = await installPackages('oauth-clients');
  await cp(fileURLToPath(new URL('./foreign', import.meta.url)), folder, { recursive: true });
  settings = JSON.stringify({
    issuer: node.ctx.baseUrl,
    clientId,
    clientSecret: secret,
    redirectUri: uris[0],
    origin: ORIGIN,
  });
  const { stdout } = await promisify(execFile)(process.execPath, [join(folder, 'run-oauth-clients.mjs')], {
    env: { PATH: process.env.PATH, SETTINGS: settings },
    timeout: 120_000,
  });
  results = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
}, 10 * 60_000);
afterAll(() => node.close());

test('no client is left out', () => {
  expect(Object.keys(results).sort()).toEqual([...NAMES].sort());
});

test.each(NAMES)('%s signs a user in, and its token works', async (name) => {
  const { token, error } = results[name] ?? {};
  expect(error).toBeUndefined();
  await expectToWork(token);
});

test(
  'authlib signs a user in, and its token works',
  async ({ skip }) => {
    const problem = installDebianPackages(['python3-authlib', 'python3-requests']);
    if (problem !== null) return skip(problem);
    const script = fileURLToPath(new URL('./foreign/authlib_client.py', import.meta.url));
    // The packages belong to Debian's Python, and another Python may come before it in the PATH.
    const { stdout } = await promisify(execFile)('/usr/bin/python3', [script], {
      env: { SETTINGS: settings, AUTHLIB_INSECURE_TRANSPORT: '1' },
      timeout: 60_000,
    });
    await expectToWork(JSON.parse(stdout).token);
  },
  10 * 60_000,
);

async function expectToWork(token: string | undefined): Promise<void> {
  const headers = { authorization: `Bearer ${token}` };
  expect((await node.app.inject({ url: '/v1/offers', headers })).statusCode).toBe(200);
}
