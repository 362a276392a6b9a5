import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from './setup/database.ts';
import { productionSettings, runCauseway, startService } from './support/service.ts';
import { startSolanaChain } from './support/solana-chain.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'causeway-start-'));
let database: TestDatabase;
let production: Record<string, string>;
beforeAll(async () => {
  database = await createEmptyDatabase();
  production = { ...productionSettings(database.url), CAUSEWAY_DATA: dataDir };
});
afterAll(async () => {
  await database.drop();
  rmSync(dataDir, { recursive: true, force: true });
});

async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return client
    .query(text)
    .then(({ rows }) => rows)
    .finally(() => client.end());
}

/** Checks that the service prints a single line on standard error, which matches `words`, and exits with code 2. */
async function expectRefusal(args: string[], env: Record<string, string>, words: RegExp): Promise<void> {
  const { code, text } = await runCauseway(args, { CAUSEWAY_DEMO: 'off', PORT: '0', ...env });
  expect({ code, text }).toMatchObject({ code: 2, text: expect.stringMatching(words) });
  expect(text.trim().split('\n')).toHaveLength(1);
}

describe('the profile of a database', () => {
  test('production is remembered, and a sandbox refuses to start on it and seeds nothing', async () => {
    const node = await startService({ ...production, CAUSEWAY_DEMO: '', PORT: '0' });
    await node.stop();
    const sandbox = { DATABASE_URL: database.url, CAUSEWAY_DATA: dataDir };
    await expectRefusal(['serve'], sandbox, /CAUSEWAY_PROFILE: is sandbox, .* production/);
    const [counts] = await query(
      database.url,
      'select (select count(*) from users)::int as users, (select count(*) from partners)::int as partners',
    );
    expect(counts).toEqual({ users: 0, partners: 0 });
  });

  test('a database that commands have filled before the first start is production, and stays as it is', async () => {
    const used = await createEmptyDatabase();
    const settings = { CAUSEWAY_DATA: dataDir, DATABASE_URL: used.url };
    expect((await runCauseway(['migrate'], settings)).code).toBe(0);
    await query(used.url, `insert into partners (id, name) values (gen_random_uuid(), 'Acme')`);
    await expectRefusal(['serve'], settings, /CAUSEWAY_PROFILE: is sandbox, .* production/);
    expect(await query(used.url, 'select from installation')).toEqual([]);
    await used.drop();
  });

  test('a sandbox database refuses production', async () => {
    const sandboxed = await createTestDatabase();
    await query(sandboxed.url, `insert into installation (profile) values ('sandbox')`);
    await expectRefusal(
      ['serve'],
      { ...production, DATABASE_URL: sandboxed.url, CAUSEWAY_DEMO: '' },
      /CAUSEWAY_PROFILE: is production, .* sandbox/,
    );
    await sandboxed.drop();
  });
});

describe('settings that would publish the sandbox', () => {
  test.each([
    [{ HOST: '0.0.0.0' }, /HOST: must be a loopback address in the sandbox/],
    [{ PUBLIC_URL: 'https://invest.example' }, /PUBLIC_URL: must not use https in the sandbox/],
    [
      { SUMSUB_APP_TOKEN: 'prd:x', SUMSUB_SECRET: 'x', SUMSUB_WEBHOOK_SECRET: 'x' },
      /SUMSUB_APP_TOKEN: must not be a production token/,
    ],
    [{ CAUSEWAY_PROFLE: 'production' }, /CAUSEWAY_PROFLE: .* did you mean CAUSEWAY_PROFILE\?/],
  ])('%j is refused', (env, words) => expectRefusal(['serve'], { CAUSEWAY_DATA: dataDir, ...env }, words));
});

describe('the secret', () => {
  const other = Buffer.alloc(32, 8).toString('base64');

  test('a command never creates one', async () => {
    const empty = mkdtempSync(join(tmpdir(), 'causeway-start-'));
    const env = { CAUSEWAY_DATA: empty, DATABASE_URL: database.url };
    await expectRefusal(['keys', 'rotate-signing'], env, /CAUSEWAY_SECRET: is required by this command/);
    expect(existsSync(join(empty, 'secret'))).toBe(false);
    rmSync(empty, { recursive: true });
  });

  test('a command needs only the settings that it uses', async () => {
    const env = { CAUSEWAY_PROFILE: 'production', DATABASE_URL: database.url };
    expect(await runCauseway(['partner', 'list'], env)).toEqual({ code: 0, text: '[]\n' });
  });

  test('every node and command refuses a secret that the database does not know', async () => {
    const env = { ...production, CAUSEWAY_SECRET: other, CAUSEWAY_DEMO: '' };
    await expectRefusal(['serve'], env, /CAUSEWAY_SECRET: is not the secret/);
    await expectRefusal(['partner', 'list'], env, /CAUSEWAY_SECRET: is not the secret/);
    await expectRefusal(['keys', 'rotate'], env, /CAUSEWAY_SECRET: is not the secret/);
  });

  test('a command does not seal with a secret that no node uses yet', async () => {
    const secrets = `${other},${production.CAUSEWAY_SECRET}`;
    const env = { ...production, CAUSEWAY_SECRET: secrets };
    await expectRefusal(['keys', 'rotate'], env, /CAUSEWAY_SECRET: starts with a secret that no node uses/);
  });

  test('a secret that was removed without `keys rotate` is missed by nodes and commands', async () => {
    const removed = `decode(repeat('03', 32), 'hex')`;
    await query(database.url, `insert into installation_secrets (fingerprint) values (${removed})`);
    const env = { ...production, CAUSEWAY_DEMO: '' };
    const words = /CAUSEWAY_SECRET.* lacks a secret that data .*causeway keys rotate/s;
    await expectRefusal(['serve'], env, words);
    await expectRefusal(['keys', 'rotate'], env, words);
    await query(database.url, `delete from installation_secrets where fingerprint = ${removed}`);
  });
});

describe('a start that cannot succeed', () => {
  test('names the port that is taken', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const { port } = taken.address() as AddressInfo;
    const env = { ...production, CAUSEWAY_DEMO: '', PORT: String(port) };
    await expectRefusal(['serve'], env, new RegExp(`PORT: 127.0.0.1 port ${port} is already in use`));
    await new Promise((resolve) => taken.close(resolve));
  });

  test('names a node of another Solana cluster', async () => {
    const solana = await startSolanaChain();
    const env = { ...production, RPC_URL_SOLANA_MAINNET: String(solana.nodes[0]?.url) };
    await expectRefusal(['serve'], env, /RPC_URL_SOLANA_MAINNET: .* serves the cluster with genesis hash/);
    await solana.stop();
  });

  test('names the data directory that is not writable', async () => {
    const file = join(dataDir, 'file');
    writeFileSync(file, '');
    await expectRefusal(
      ['serve'],
      { CAUSEWAY_DATA: join(file, 'data') },
      /CAUSEWAY_DATA: .* is not writable/,
    );
  });

  test('says how to build when the build is missing and the tree cannot be written', async () => {
    const tree = mkdtempSync(join(tmpdir(), 'causeway-tree-'));
    const root = join(import.meta.dirname, '../..');
    for (const folder of [
      'service/src',
      'service/generate',
      'sandbox/src',
      'contracts/abi',
      'contracts/encodings',
      'demo/server',
      'sdk/src',
    ])
      mkdirSync(join(tree, folder), { recursive: true });
    cpSync(join(root, 'service/bin'), join(tree, 'service/bin'), { recursive: true });
    writeFileSync(join(tree, 'package-lock.json'), '{}');
    // Puts a file where the build folder belongs, because nobody can create a folder below a file. Removing write
    // permissions would not stop root.
    writeFileSync(join(tree, 'service/dist'), '');
    const { status, stderr } = spawnSync(process.execPath, [join(tree, 'service/bin/causeway.mjs'), 'serve']);
    expect({ status, text: String(stderr) }).toEqual({
      status: 2,
      text: expect.stringMatching(
        /^causeway: the build is missing and cannot be written to .*; run "npm run build" .*\n$/,
      ),
    });
    rmSync(tree, { recursive: true });
  });

  test('a command on a database without migrations says how to apply them', async () => {
    const empty = await createEmptyDatabase();
    const env = { ...production, DATABASE_URL: empty.url };
    await expectRefusal(
      ['partner', 'list'],
      env,
      /the database lacks \d+ migrations; run "causeway migrate"/,
    );
    await expectRefusal(['offer', 'list'], env, /the database lacks \d+ migrations; run "causeway migrate"/);
    await empty.drop();
  });
});
