import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { type TestApp, testApp } from '../../../test/support/app.ts';
import { expectAudited } from '../../../test/support/audited.ts';
import { readReasons } from '../../../test/support/reasons.ts';
import { typeOnTerminal } from '../../../test/support/terminal.ts';
import { SCOPES } from '../../kernel/access.ts';
import type { Config } from '../../kernel/config/config.ts';
import { UsageError } from '../../kernel/errors.ts';
import { run as runKeys } from './keys-command.ts';
import { run as runPartner } from './partner-command.ts';

let node: TestApp;
let config: Config;
beforeAll(async () => {
  node = await testApp();
  config = { ...node.ctx.config, databaseUrl: String(node.ctx.pool.options.connectionString) };
});
afterAll(() => node.close());
afterEach(() => vi.restoreAllMocks());

let said = '';

/** Runs the command and returns its JSON output. `said` is then what it printed to standard error. */
async function run(...args: string[]) {
  const output: string[] = [];
  said = '';
  vi.spyOn(console, 'log').mockImplementation((text: string) => void output.push(text));
  vi.spyOn(console, 'error').mockImplementation((text: string) => {
    said += `${text}\n`;
  });
  await runPartner(config, args);
  return output.length === 0 ? null : JSON.parse(output.join(''));
}

const create = (...options: string[]) =>
  run('create', '--name', 'Acme Invest', '--redirect', 'https://acme.test/callback', ...options);
const tokenStatus = async ({ client_id, client_secret }: { client_id: string; client_secret: string }) =>
  (
    await node.app.inject({
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
  const reply = await node.app.inject({ url: `/oauth/authorize?${query}` });
  return reply.statusCode === 303 ? null : reply.json().error;
};

test('a new partner can get tokens immediately, and list does not show its secret', async () => {
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
    post_logout_redirect_uris: [],
    redirect_uris: ['https://acme.test/callback'],
    origins: ['https://app.acme.test'],
    scopes: ['openid', 'offers:read'],
    contact_email: null,
    disabled_at: null,
    previous_secret_until: null,
  });
  expect(JSON.stringify(listed)).not.toContain(created.client_secret);
});

test('create without --scope registers all scopes', async () => {
  const { client_id } = await create();
  expect(
    (await run('list')).find((partner: { client_id: string }) => partner.client_id === client_id).scopes,
  ).toEqual(Object.keys(SCOPES));
});

test('rotate-secret keeps the previous secret valid for the grace period only', async () => {
  const created = await create();
  const second = await run('rotate-secret', created.client_id);
  expect([await tokenStatus(created), await tokenStatus(second)]).toEqual([200, 200]);
  const third = await run('rotate-secret', created.client_id, '--grace-hours', '0');
  expect([await tokenStatus(created), await tokenStatus(second), await tokenStatus(third)]).toEqual([
    401, 401, 200,
  ]);
});

test('set-redirects and set-origins replace the registered values', async () => {
  const { client_id } = await create();
  await run('set-redirects', client_id, 'https://acme.test/a', 'http://localhost:3000/b');
  expect(await authorizeError(client_id, 'https://acme.test/callback')).toBe('invalid_redirect_uri');
  expect(await authorizeError(client_id, 'http://localhost:3000/b')).toBeNull();
  await run('set-origins', client_id, 'https://new.acme.test');
  await expect.poll(() => node.ctx.guard.knowsOrigin('https://new.acme.test')).toBe(true);
  expect(node.ctx.guard.knowsOrigin('https://app.acme.test')).toBe(true);
});

test('only https and loopback addresses are redirects, whatever a name looks like', async () => {
  const { client_id } = await create();
  const accepted = ['http://127.0.0.2:3000/b', 'http://[::1]:3000/b', 'http://localhost/b'];
  await run('set-redirects', client_id, ...accepted);
  for (const host of ['127.evil.example', '127.0.0.1.evil.example', 'localhost.evil.example', '128.0.0.1'])
    await expect(run('set-redirects', client_id, `http://${host}/b`)).rejects.toThrow(UsageError);
});

test('redirects after sign-out are registered by create and replaced by set-logout-redirects', async () => {
  const logoutStatus = async (client_id: string, post_logout_redirect_uri: string) => {
    const query = new URLSearchParams({ client_id, post_logout_redirect_uri });
    return (await node.app.inject(`/oauth/logout?${query}`)).statusCode;
  };
  const { client_id } = await create('--logout-redirect', 'https://acme.test/bye');
  expect(await logoutStatus(client_id, 'https://acme.test/bye')).toBe(303);
  await run('set-logout-redirects', client_id, 'https://acme.test/later');
  expect(await logoutStatus(client_id, 'https://acme.test/bye')).toBe(400);
  expect(await logoutStatus(client_id, 'https://acme.test/later')).toBe(303);
  await expect(run('set-logout-redirects', client_id, 'http://acme.test/')).rejects.toThrow();
});

test('create and set-contact record the email address to which the service reports problems', async () => {
  const { client_id } = await create('--contact', 'dev@acme.test');
  const contact = async () =>
    (await run('list')).find((partner: { client_id: string }) => partner.client_id === client_id)
      .contact_email;
  expect(await contact()).toBe('dev@acme.test');
  await run('set-contact', client_id, 'ops@acme.test');
  expect(await contact()).toBe('ops@acme.test');
  for (const wrong of [['nobody'], [], ['a@acme.test', 'b@acme.test']])
    await expect(run('set-contact', client_id, ...wrong)).rejects.toThrow(UsageError);
  expect(await contact()).toBe('ops@acme.test');
});

test('disable blocks the partner once its name is typed, and enable unblocks it', async () => {
  const created = await create();
  await node.tokenFor({ clientId: created.client_id, partnerId: created.partner_id });
  const disable = (typed: string | null, ...more: string[]) => {
    typeOnTerminal(typed);
    return run('disable', created.client_id, '--reason', 'contract ended', ...more);
  };
  for (const [typed, message] of [
    ['acme\n', 'Acme Invest was not typed, so nothing was changed'],
    [null, '--yes'],
  ] as const)
    await expect(disable(typed)).rejects.toThrow(message);
  await expect(run('disable', created.client_id, '--yes')).rejects.toThrow('requires --reason TEXT');
  expect(await tokenStatus(created)).toBe(200);
  await disable('Acme Invest\n');
  expect(said).toContain('Acme Invest');
  expect(said).toMatch(/1 client, \d tokens?, 0 webhook endpoints, 1 connected user/);
  expect(await readReasons(node.ctx, 'partner.disabled', created.partner_id)).toEqual(['contract ended']);
  expect(await tokenStatus(created)).toBe(401);
  expect(await authorizeError(created.client_id, 'https://acme.test/callback')).toBe('invalid_client');
  await run('enable', created.client_id);
  expect(await tokenStatus(created)).toBe(200);
  await disable(null, '--yes');
  expect(said).toContain('Acme Invest');
  expect(await tokenStatus(created)).toBe(401);
  await expectAudited(node.ctx, 'client.insert', 'client.update', 'partner.insert', 'partner.update');
  await expectAudited(node.ctx, 'partner.disabled', 'partner.enabled');
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
  [['disable', 'nobody', '--reason', 'x', '--yes']],
  [['disable', 'nobody', '--name', 'X']],
])('%j is rejected and changes nothing', async (args) => {
  const before = await run('list');
  await expect(run(...args)).rejects.toMatchObject({ name: 'UsageError' });
  expect(await run('list')).toEqual(before);
});

test('keys rotate-signing switches to a new signing key', async () => {
  const log = vi.spyOn(console, 'log').mockImplementation(() => {});
  await runKeys(config, ['rotate-signing']);
  const { kid } = JSON.parse(String(log.mock.calls[0]?.[0]));
  await expect.poll(async () => (await node.app.inject('/oauth/jwks')).json().keys[0].kid).toBe(kid);
  await expect(runKeys(config, ['burn'])).rejects.toMatchObject({ name: 'UsageError' });
});
