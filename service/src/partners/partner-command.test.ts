import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { type TestApp, testApp } from '../../test/support/app.ts';
import type { Config } from '../config.ts';
import { SCOPES } from '../http/access.ts';
import { runKeys } from '../oauth/keys-command.ts';
import { runPartner } from './partner-command.ts';

let one: TestApp;
let config: Config;
beforeAll(async () => {
  one = await testApp();
  config = { ...one.ctx.config, databaseUrl: String(one.ctx.pool.options.connectionString) };
});
afterAll(() => one.close());
afterEach(() => vi.restoreAllMocks());

/** What the command printed, read as JSON. */
async function run(...args: string[]) {
  const said: string[] = [];
  vi.spyOn(console, 'log').mockImplementation((text: string) => void said.push(text));
  vi.spyOn(console, 'error').mockImplementation(() => {});
  await runPartner(config, args);
  return said.length === 0 ? null : JSON.parse(said.join(''));
}

const create = (...more: string[]) =>
  run('create', '--name', 'Acme Invest', '--redirect', 'https://acme.test/callback', ...more);
const tokenStatus = async ({ client_id, client_secret }: { client_id: string; client_secret: string }) =>
  (
    await one.app.inject({
      method: 'POST',
      url: '/oauth/token',
      payload: { grant_type: 'client_credentials', client_id, client_secret },
    })
  ).statusCode;
const authorizeError = async (client_id: string, redirect_uri: string) => {
  const query = new URLSearchParams({
    client_id,
    redirect_uri,
    response_type: 'code',
    code_challenge: 'a'.repeat(43),
    code_challenge_method: 'S256',
  });
  const reply = await one.app.inject({ url: `/oauth/authorize?${query}` });
  return reply.statusCode === 303 ? null : reply.json().error;
};

test('a created partner works at once, and its secret is in no list', async () => {
  const created = await create(
    '--origin',
    'https://app.acme.test',
    '--scope',
    'openid',
    '--scope',
    'offers:read',
  );
  expect(created).toEqual({
    partner_id: expect.any(String),
    client_id: expect.stringMatching(/^acme-invest-[0-9a-f]{12}$/),
    client_secret: expect.stringMatching(/^cws_[\w-]{43}$/),
  });
  expect(await tokenStatus(created)).toBe(200);
  const listed = await run('list');
  expect(listed).toContainEqual({
    client_id: created.client_id,
    partner_id: created.partner_id,
    name: 'Acme Invest',
    redirect_uris: ['https://acme.test/callback'],
    origins: ['https://app.acme.test'],
    scopes: ['openid', 'offers:read'],
    disabled_at: null,
    previous_secret_until: null,
  });
  expect(JSON.stringify(listed)).not.toContain(created.client_secret);
});

test('without scopes it may have all', async () => {
  const { client_id } = await create();
  expect(
    (await run('list')).find((one: { client_id: string }) => one.client_id === client_id).scopes,
  ).toEqual(Object.keys(SCOPES));
});

test('rotate-secret: both work during the grace, the old one not without', async () => {
  const created = await create();
  const second = await run('rotate-secret', created.client_id);
  expect([await tokenStatus(created), await tokenStatus(second)]).toEqual([200, 200]);
  const third = await run('rotate-secret', created.client_id, '--grace-hours', '0');
  expect([await tokenStatus(created), await tokenStatus(second), await tokenStatus(third)]).toEqual([
    401, 401, 200,
  ]);
});

test('set-redirects and set-origins replace what was registered', async () => {
  const { client_id } = await create();
  await run('set-redirects', client_id, 'https://acme.test/a', 'http://localhost:3000/b');
  expect(await authorizeError(client_id, 'https://acme.test/callback')).toBe('invalid_redirect_uri');
  expect(await authorizeError(client_id, 'http://localhost:3000/b')).toBeNull();
  await run('set-origins', client_id, 'https://new.acme.test');
  await expect.poll(() => one.ctx.guard.knowsOrigin('https://new.acme.test')).toBe(true);
  expect(one.ctx.guard.knowsOrigin('https://app.acme.test')).toBe(true);
});

test('disable ends it, enable brings it back', async () => {
  const created = await create();
  await run('disable', created.client_id);
  expect(await tokenStatus(created)).toBe(401);
  expect(await authorizeError(created.client_id, 'https://acme.test/callback')).toBe('invalid_client');
  await run('enable', created.client_id);
  expect(await tokenStatus(created)).toBe(200);
});

test.each([
  [['dance']],
  [['create', '--name', 'X']],
  [['create', '--name', '', '--redirect', 'https://x.test/']],
  [['create', '--name', 'X', '--redirect', 'http://x.test/']],
  [['create', '--name', 'X', '--redirect', 'https://x.test/#f']],
  [['create', '--name', 'X', '--redirect', 'https://u@x.test/']],
  [['create', '--name', 'X', '--redirect', 'https://*.x.test/']],
  [['create', '--name', 'X', '--redirect', 'javascript:alert(1)']],
  [['create', '--name', 'X', '--redirect', 'https://x.test/', '--scope', 'everything']],
  [['create', '--name', 'X', '--redirect', 'https://x.test/', '--origin', 'https://x.test/path']],
  [['create', '--name', 'X', '--redirect', 'https://x.test/', '--logo', 'http://x.test/logo.png']],
  [['list', 'extra']],
  [['rotate-secret']],
  [['rotate-secret', 'nobody']],
  [['rotate-secret', 'nobody', '--grace-hours=-1']],
  [['disable', 'nobody']],
  [['disable', 'nobody', '--name', 'X']],
])('%j is refused and changes nothing', async (args) => {
  const before = await run('list');
  await expect(run(...args)).rejects.toMatchObject({ name: 'UsageError' });
  expect(await run('list')).toEqual(before);
});

test('keys rotate-signing makes another key sign', async () => {
  const said = vi.spyOn(console, 'log').mockImplementation(() => {});
  await runKeys(config, ['rotate-signing']);
  const { kid } = JSON.parse(String(said.mock.calls[0]?.[0]));
  await expect.poll(async () => (await one.app.inject('/oauth/jwks')).json().keys[0].kid).toBe(kid);
  await expect(runKeys(config, ['burn'])).rejects.toMatchObject({ name: 'UsageError' });
});
