import { randomBytes } from 'node:crypto';
import { createServer } from 'node:net';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from '../../../test/setup/database.ts';
import { productionSettings } from '../../../test/support/service.ts';
import { inspectConfig } from '../../kernel/config/config.ts';
import { createSealing } from '../../kernel/sealing.ts';
import { openPool } from '../../platform/db/pool.ts';
import { readServerFacts, type ServerFacts } from '../../platform/db/server-facts.ts';
import { run as runDoctor } from '../cli/doctor-command.ts';
import { judgeServer } from './database.ts';
import { describeError, type Finding, runCheck } from './finding.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

/** Runs the command in this process. Returns its findings, what it printed, and whether it failed. */
async function doctor(env: Record<string, string>, ...args: string[]) {
  let output = '';
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    output += text;
    return true;
  });
  try {
    await runDoctor(inspectConfig(env), args);
    return { output, isFailed: process.exitCode === 1 };
  } finally {
    process.exitCode = undefined;
    write.mockRestore();
  }
}

async function findingsOf(env: Record<string, string>): Promise<Finding[]> {
  return JSON.parse((await doctor(env, '--json')).output).findings;
}

const closedPort = async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
};

test('reports every part that is down with a remedy, goes on with the others, and shows no secret', async () => {
  const port = await closedPort();
  const secrets = {
    DATABASE_URL: `postgres://causeway:database-pass@127.0.0.1:${port}/causeway`,
    SMTP_URL: `smtps://mailer:smtp-pass@127.0.0.1:${port}`,
    RPC_URL_ETHEREUM_MAINNET: `http://127.0.0.1:${port}/rpc-api-key`,
    CAUSEWAY_SECRET: 'kQ3v0sZ0yq7u5t0mO2e9h1r8d4c6b7a9f3g5j7l9n1E=',
    OPERATOR_KEY: `0x${'5b'.repeat(32)}`,
    SUMSUB_SECRET: 'sumsub-secret-value',
  };
  const { SUMSUB_WEBHOOK_SECRET: _, ...settings } = productionSettings('');
  const env = { ...settings, PUBLIC_URL: `https://127.0.0.1:${port}`, ...secrets };
  const { output, isFailed } = await doctor(env, '--json');
  expect(isFailed).toBe(true);
  const { status, findings } = JSON.parse(output) as { status: string; findings: Finding[] };
  expect(status).toBe('failed');
  const statusOf = (check: string) =>
    findings.filter((each) => each.check === check).map((each) => each.status);
  expect(findings).toContainEqual(
    expect.objectContaining({ finding: expect.stringMatching(/^SUMSUB_WEBHOOK_SECRET: is required/) }),
  );
  expect(statusOf('database')).toEqual(['failed']);
  expect(statusOf('rpc ethereum_mainnet')).toEqual(['failed']);
  expect(statusOf('operator ethereum_mainnet')).toEqual(['skipped']);
  expect(statusOf('public URL')).toEqual(['warning']);
  expect(statusOf('mail')).toEqual(['failed']);
  for (const each of findings) expect(each.remedy !== null).toBe(['failed', 'warning'].includes(each.status));
  const text = (await doctor(env)).output;
  expect(text).toMatch(/^failed +database +.*ECONNREFUSED/m);
  for (const hidden of [
    'database-pass',
    'smtp-pass',
    'rpc-api-key',
    secrets.CAUSEWAY_SECRET,
    '5b5b5b5b',
    'sumsub-secret-value',
  ])
    expect(output + text).not.toContain(hidden);
});

test('a database without migrations and an unused secret are warnings before the first start', async () => {
  const empty = await createEmptyDatabase();
  const findings = await findingsOf(productionSettings(empty.url));
  const found = (check: string) => findings.find((each) => each.check === check);
  expect(found('migrations')).toMatchObject({
    status: 'warning',
    remedy: expect.stringContaining('causeway migrate'),
  });
  expect(found('secret')).toMatchObject({ status: 'skipped' });
  for (const check of ['database', 'database TLS', 'database pool', 'clock', 'notifications', 'profile'])
    expect(found(check)).toMatchObject({ status: 'ok' });
  await empty.drop();
  const migrated = await findingsOf(productionSettings(database.url));
  expect(migrated.find(({ check }) => check === 'migrations')).toMatchObject({ status: 'ok' });
  expect(migrated.find(({ check }) => check === 'secret')).toMatchObject({ status: 'warning' });
});

test('a secret that was removed without `keys rotate` is a failure with its remedy', async () => {
  const settings = productionSettings(database.url);
  const secrets = [Buffer.from(settings.CAUSEWAY_SECRET ?? '', 'base64')];
  const { fingerprints } = createSealing(secrets, randomBytes);
  const { pool, close } = openPool(database.url, { max: 1 });
  const text = 'insert into installation_secrets (fingerprint) select unnest($1::bytea[])';
  await pool.query(text, [[...fingerprints, randomBytes(32)]]).finally(close);
  const found = (await findingsOf(settings)).find(({ check }) => check === 'secret');
  expect(found).toMatchObject({
    status: 'failed',
    finding: expect.stringContaining('lacks a secret'),
    remedy: expect.stringContaining('causeway keys rotate'),
  });
});

test('subtracts every kind of reserved connection from the connections that the server accepts', async () => {
  const { pool, close } = openPool(database.url, { max: 1 });
  const { rows } = await pool.query<{ max: number }>(
    `select sum(case name when 'max_connections' then setting::int else -setting::int end)::int as max from pg_settings
     where name in ('max_connections', 'superuser_reserved_connections', 'reserved_connections')`,
  );
  expect((await readServerFacts(pool)).connections.max).toBe(rows[0]?.max);
  await close();
});

test('judges what the database server reports', () => {
  const good: ServerFacts = {
    ...{ version: 180_004, clockOffsetMs: 20, connections: { max: 97, used: 5 }, nodes: 3 },
    ...{ encryption: 'verified', isLocal: false },
  };
  const judge = (change: Partial<ServerFacts>) =>
    judgeServer({ ...good, ...change }, { databasePool: 10 }).filter(({ status }) => status !== 'ok');
  expect(judge({})).toEqual([]);
  expect(judge({ encryption: 'none', isLocal: true })).toEqual([]);
  expect(judge({ version: 140_011 })).toMatchObject([{ check: 'database', status: 'failed' }]);
  expect(judge({ encryption: 'none' })).toMatchObject([{ check: 'database TLS', status: 'warning' }]);
  expect(judge({ encryption: 'unverified' })).toMatchObject([{ check: 'database TLS', status: 'warning' }]);
  expect(judge({ clockOffsetMs: -3_000 })).toMatchObject([{ check: 'clock', status: 'warning' }]);
  expect(judge({ clockOffsetMs: 60_000 })).toMatchObject([{ check: 'clock', status: 'failed' }]);
  expect(judge({ nodes: 9 })).toMatchObject([{ check: 'database pool', status: 'warning' }]);
});

test('a check that hangs ends with a finding', async () => {
  const never = { name: 'slow', run: () => new Promise<Finding[]>(() => undefined) };
  expect(await runCheck(never, 10)).toMatchObject([{ check: 'slow', status: 'failed' }]);
});

test('errors are described without URLs and credentials', () => {
  const error = new Error('POST https://user:pass@rpc.example/v2/api-key failed\nstack');
  expect(describeError(error)).toBe('POST the URL failed');
  expect(describeError(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }))).toBe(
    'refused (ECONNREFUSED)',
  );
});
