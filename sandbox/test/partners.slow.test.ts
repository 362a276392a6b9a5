import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Service, startService } from '../../service/test/support/service.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'causeway-partners-'));
let service: Service;
beforeAll(async () => {
  service = await startService({ CAUSEWAY_DATA: dataDir });
}, 180_000);
afterAll(async () => {
  await service.discard();
  rmSync(dataDir, { recursive: true, force: true });
});

type Partner = { client_id: string; client_secret: string; redirect_uris: string[]; origins: string[] };
type User = { id: string; email: string };
type Overview = { base_url: string; issuer: string; partner: Partner; other_partner: Partner; users: [User] };
type Body = { access_token: string; refresh_token: string; scope: string; active: boolean; errors: object };

const sandbox = async () => (await (await fetch(`${service.url}/sandbox`)).json()) as Overview;
const post = async (path: string, body: unknown) => {
  const reply = await fetch(service.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: reply.status, body: (await reply.json()) as Body };
};
const causeway = async (...args: string[]) => {
  const bin = fileURLToPath(new URL('../../service/bin/causeway.mjs', import.meta.url));
  const env = { PATH: process.env.PATH, CAUSEWAY_DATA: dataDir };
  return JSON.parse((await promisify(execFile)(process.execPath, [bin, ...args], { env })).stdout);
};

test('the startup output has no warnings from the OAuth library', () => {
  expect(service.output()).toContain('Causeway is ready');
  expect(service.output()).not.toContain('oidc-provider');
});

test('the overview has the issuer and working credentials of two partners', async () => {
  const { partner, other_partner, issuer } = await sandbox();
  expect(issuer).toBe(service.url);
  for (const { client_id, client_secret, redirect_uris, origins } of [partner, other_partner]) {
    expect(redirect_uris.length).toBeGreaterThan(0);
    expect(origins).toContain('http://localhost:3000');
    const token = await post('/oauth/token', { grant_type: 'client_credentials', client_id, client_secret });
    expect(token).toMatchObject({ status: 200, body: { token_type: 'Bearer', expires_in: 900 } });
  }
});

test('any redirect to localhost is registered, and no other host', async () => {
  const { partner } = await sandbox();
  const location = async (redirect_uri: string) => {
    const query = new URLSearchParams({
      ...{ response_type: 'code', client_id: partner.client_id, redirect_uri, state: 's' },
      ...{ code_challenge: 'a'.repeat(43), code_challenge_method: 'S256' },
    });
    const reply = await fetch(`${service.url}/oauth/authorize?${query}`, { redirect: 'manual' });
    return [reply.status, reply.headers.get('location')?.includes('/interaction/') ?? false];
  };
  expect(await location('http://localhost:4321/any/path')).toEqual([303, true]);
  for (const uri of [
    'https://localhost:4321/',
    'http://localhost.evil.test/',
    'http://user@localhost:1/',
    'http://127.0.0.1:4321/',
  ])
    expect(await location(uri)).toEqual([400, false]);
});

test('the overview names the addresses with a role', async () => {
  const { roles } = (await sandbox()) as unknown as { roles: Record<string, string> };
  for (const name of ['operator', 'supplier', 'owner', 'venue_owner', 'venue_signer'])
    expect(roles[name]).toMatch(/^0x[0-9a-f]{40}$/);
});

test('a token issued without a browser can be introspected, refreshed and revoked', async () => {
  const { partner, users } = await sandbox();
  const credentials = { client_id: partner.client_id, client_secret: partner.client_secret };
  const { status, body } = await post('/sandbox/token', { email: users[0].email });
  expect(status).toBe(200);
  expect(Object.keys(body).sort()).toEqual([
    'access_token',
    'expires_in',
    'id_token',
    'refresh_token',
    'scope',
    'token_type',
  ]);
  const introspect = async (token: string) => (await post('/oauth/introspect', { token })).body;
  expect(await introspect(body.access_token)).toMatchObject({
    active: true,
    sub: users[0].id,
    username: users[0].email,
    client_id: partner.client_id,
  });
  const refreshed = await post('/oauth/token', {
    grant_type: 'refresh_token',
    refresh_token: body.refresh_token,
    ...credentials,
  });
  expect(refreshed.status).toBe(200);
  const info = await fetch(`${service.url}/oauth/userinfo`, {
    headers: { authorization: `Bearer ${refreshed.body.access_token}` },
  });
  expect(await info.json()).toMatchObject({ sub: users[0].id, email: users[0].email });
  await post('/oauth/revoke', { token: body.refresh_token, ...credentials });
  for (const token of [body.access_token, refreshed.body.access_token])
    expect(await introspect(token)).toEqual({ active: false });
});

test('the token control accepts a scope and a client, and rejects unknown ones', async () => {
  const { other_partner, users } = await sandbox();
  const email = users[0].email;
  const narrow = await post('/sandbox/token', {
    email,
    scope: 'offers:read',
    client_id: other_partner.client_id,
  });
  expect(narrow.body).toMatchObject({ scope: 'offers:read' });
  expect(narrow.body).not.toHaveProperty('id_token');
  const { scope: all } = (await post('/sandbox/token', { email })).body;
  for (const scope of ['', ' '])
    expect((await post('/sandbox/token', { email, scope })).body.scope).toBe(all);
  for (const [body, field] of [
    [{ email: 'nobody@sandbox.test' }, 'email'],
    [{ email, client_id: 'nobody' }, 'client_id'],
    [{ email, scope: 'everything' }, 'scope'],
    [{}, 'email'],
  ] as const) {
    const rejected = await post('/sandbox/token', body);
    expect([rejected.status, Object.keys(rejected.body.errors)]).toEqual([422, [field]]);
  }
});

test('commands find the database of the running sandbox, which sees their changes', async () => {
  const created = await causeway(
    'partner',
    'create',
    '--name',
    'Mine',
    '--redirect',
    'http://localhost:9000/back',
  );
  const token = await post('/oauth/token', {
    grant_type: 'client_credentials',
    client_id: created.client_id,
    client_secret: created.client_secret,
  });
  expect(token.status).toBe(200);
  expect((await causeway('partner', 'list')).map(({ name }: { name: string }) => name)).toContain('Mine');
});

test('credentials and tokens survive a restart', { timeout: 120_000 }, async () => {
  const before = await sandbox();
  const { body } = await post('/sandbox/token', { email: before.users[0].email });
  await service.stop();
  service = await startService({ CAUSEWAY_DATA: dataDir, PORT: new URL(before.base_url).port });
  const after = await sandbox();
  expect([after.partner, after.other_partner]).toEqual([before.partner, before.other_partner]);
  expect((await post('/oauth/introspect', { token: body.access_token })).body.active).toBe(true);
});
