import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { isAlive, listProcesses } from '../../../service/test/setup/processes.ts';
import { chooseServerUser } from './binaries.ts';
import { findPostgres, type Postgres, startPostgres } from './server.ts';

// Generous for a busy machine; normally the test takes far less time.
const POLL = { timeout: 20_000 };
let template: string;
let root: string;
/** A copy of `template`, the folder of a stopped server. Copying is much faster than creating a new database. */
let dataDir: string;
/** A folder that does not exist yet, for tests of the first start. */
let newDir: string;
let logged: string[];
const cleanups: (() => unknown)[] = [];

beforeAll(async () => {
  template = await mkdtemp(join(tmpdir(), 'causeway-postgres-'));
  await (await startPostgres({ dataDir: template, log: () => undefined })).stop();
});
afterAll(() => rm(template, { recursive: true, force: true }));

beforeEach(async () => {
  // Private like root's home. The hardest case: the server's user cannot enter the folder.
  root = await mkdtemp(join(tmpdir(), 'causeway-postgres-'));
  await chmod(root, 0o700);
  dataDir = copyCluster('data');
  newDir = join(root, 'new');
  logged = [];
});

/** Copies the template into a folder for this test. The files keep their owners. */
function copyCluster(name: string): string {
  const folder = join(root, name);
  execFileSync('cp', ['-a', template, folder]);
  return folder;
}

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  // A server whose owner was just killed may still be writing files.
  await rm(root, { recursive: true, force: true, maxRetries: 50, retryDelay: 100 });
});

async function start(folder = dataDir): Promise<Postgres> {
  const server = await startPostgres({ dataDir: folder, log: (message) => logged.push(message) });
  cleanups.push(() => server.stop());
  return server;
}

async function query<Row extends pg.QueryResultRow>(url: string, text: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5000 });
  await client.connect();
  const { rows } = await client.query<Row>(text).finally(() => client.end());
  return rows;
}

async function serverPid(folder = dataDir): Promise<number> {
  return Number((await readFile(join(folder, 'postgres', 'postmaster.pid'), 'utf8')).split('\n')[0]);
}

/** Starts another Causeway process on the same folder; `acknowledged` counts its committed writes. */
async function startOwner(folder = dataDir) {
  const script = new URL('../../../service/test/setup/embedded-owner.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, ['--import', 'tsx', script, folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  cleanups.push(() => child.kill('SIGKILL'));
  const exited = once(child, 'exit');
  const output: string[] = [];
  child.stdout.on('data', (data: Buffer) => output.push(data.toString()));
  const lines = () => output.join('').split('\n').slice(0, -1);
  const settled = () => lines().some((line) => line === 'started' || line.startsWith('failed'));
  await expect.poll(settled, POLL).toBe(true);
  return {
    pid: child.pid ?? 0,
    kill: async (signal: NodeJS.Signals) => {
      child.kill(signal);
      await exited;
    },
    failure: lines().find((line) => line.startsWith('failed')),
    acknowledged: () => lines().filter((line) => /^\d+$/.test(line)).length,
  };
}

/** Writes a file into a cluster. The file gets the owner that the server would give it. */
async function plant(path: string, text: string): Promise<void> {
  const { uid, gid } = await stat(join(path, '..'));
  await writeFile(path, text);
  await chown(path, uid, gid);
}

async function countNumbers(url: string): Promise<number> {
  return (await query<{ n: number }>(url, 'select count(*)::int as n from numbers'))[0]?.n ?? 0;
}

test('keeps its data across restarts until its folder is removed', async () => {
  const first = await start(newDir);
  await query(first.url, 'create table kept as select 42 as n');
  await first.stop();
  expect(isAlive(await serverPid(newDir).catch(() => 2 ** 30))).toBe(false);

  const second = await start(newDir);
  expect(await query(second.url, 'select n from kept')).toEqual([{ n: 42 }]);
  await second.stop();

  await rm(newDir, { recursive: true });
  const third = await start(newDir);
  await expect(query(third.url, 'select n from kept')).rejects.toThrow('does not exist');
});

test('is durable, uses UTC, sorts by code point and is only reachable by its user', async () => {
  const { url } = await start();
  const names = [
    'fsync',
    'synchronous_commit',
    'full_page_writes',
    'data_checksums',
    'TimeZone',
    'listen_addresses',
  ];
  const values = `select ${names.map((name) => `current_setting('${name}') as "${name}"`).join(', ')}`;
  expect(await query(url, values)).toEqual([
    {
      fsync: 'on',
      synchronous_commit: 'on',
      full_page_writes: 'on',
      data_checksums: 'on',
      TimeZone: 'UTC',
      listen_addresses: '',
    },
  ]);
  expect(await query(url, `select 'a' > 'B' as codepoint, lower('Ä') as lower`)).toEqual([
    { codepoint: true, lower: 'ä' },
  ]);
  for (const path of ['postgres', 'postgres/.s.PGSQL.5432'])
    expect((await stat(join(dataDir, path))).mode & 0o077, path).toBe(0);
});

test('loses no committed row when the server and its backends are killed during writes', async () => {
  const { url } = await start();
  await query(url, 'create table numbers (n int primary key)');
  const acknowledged: number[] = [];
  const writers = Array.from({ length: 4 }, async (_, writer) => {
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => undefined);
    await client.connect();
    for (let n = writer; ; n += 4) {
      await client.query('insert into numbers values ($1)', [n]);
      acknowledged.push(n);
    }
  });
  const ended = Promise.allSettled(writers);
  await expect.poll(() => acknowledged.length, POLL).toBeGreaterThan(500);
  const postmaster = await serverPid();
  for (const { pid } of listProcesses().filter(
    ({ pid, parent }) => pid === postmaster || parent === postmaster,
  ))
    process.kill(pid, 'SIGKILL');
  await ended;

  const again = await start();
  const rows = await query<{ n: number }>(again.url, 'select n from numbers');
  const found = new Set(rows.map(({ n }) => n));
  expect(acknowledged.filter((n) => !found.has(n))).toEqual([]);
});

test('loses no committed row when only the postmaster is killed and its backends linger', async () => {
  const { url } = await start();
  await query(url, 'create table numbers as select 1 as n');
  const busy = new pg.Client({ connectionString: url });
  busy.on('error', () => undefined);
  await busy.connect();
  // A busy loop, which does not notice that the postmaster is gone. It ends after a minute, so that an interrupted test
  // does not leave it behind forever.
  const loop = `do $$ declare until timestamptz := clock_timestamp() + '1 minute';
    begin while clock_timestamp() < until loop end loop; end $$`;
  const lingering = busy.query(loop).catch(() => undefined);
  process.kill(await serverPid(), 'SIGKILL');
  const again = await start();
  expect(await countNumbers(again.url)).toBe(1);
  await lingering;
});

test('the server exits when its owner is killed, and the next start has every committed row', async () => {
  const owner = await startOwner();
  await expect.poll(owner.acknowledged, POLL).toBeGreaterThan(50);
  const pid = await serverPid();
  await owner.kill('SIGKILL');
  await expect.poll(() => isAlive(pid), POLL).toBe(false);
  const { url } = await start();
  expect(await countNumbers(url)).toBeGreaterThanOrEqual(owner.acknowledged());
  expect(logged).toEqual([]);
});

test('stops a server that a killed owner left behind', async () => {
  const owner = await startOwner();
  await expect.poll(owner.acknowledged, POLL).toBeGreaterThan(50);
  const pid = await serverPid();
  const guard = listProcesses().find(
    ({ parent, command }) => parent === owner.pid && command.startsWith('/bin/sh'),
  );
  process.kill(guard?.pid ?? 0, 'SIGKILL');
  await owner.kill('SIGKILL');
  expect(isAlive(pid)).toBe(true);
  const { url } = await start();
  expect(logged).toEqual([`stopping the PostgreSQL server left behind by an earlier run (pid ${pid})`]);
  expect(isAlive(pid)).toBe(false);
  expect(await countNumbers(url)).toBeGreaterThanOrEqual(owner.acknowledged());
});

test('a second start on the same data fails, names the owner and does not disturb it', async () => {
  const owner = await startOwner();
  await expect(start()).rejects.toThrow(`in use by another Causeway process (pid ${owner.pid})`);
  expect(await countNumbers((await findPostgres(dataDir)) ?? '')).toBeGreaterThanOrEqual(0);
  const before = owner.acknowledged();
  await expect.poll(owner.acknowledged, POLL).toBeGreaterThan(before);
  await owner.kill('SIGKILL');
});

test('of several concurrent first starts on the same data exactly one succeeds', async () => {
  const owners = await Promise.all([startOwner(newDir), startOwner(newDir), startOwner(newDir)]);
  const winner = owners.find(({ failure }) => failure === undefined);
  const failures = owners.flatMap(({ failure }) => failure ?? []);
  expect(failures).toHaveLength(2);
  for (const failure of failures) expect(failure).toContain(`another Causeway process (pid ${winner?.pid})`);
  expect((await readdir(newDir)).sort()).toEqual(['postgres', 'postgres.log']);
  await winner?.kill('SIGKILL');
});

test('a program that reuses the pid of a dead server is not signalled and does not block the start', async () => {
  const first = await start();
  const lock = await readFile(join(dataDir, 'postgres/postmaster.pid'), 'utf8');
  const user = await chooseServerUser(join(dataDir, 'postgres'));
  await first.stop();
  // The process belongs to the server's user; otherwise PostgreSQL would not take the process for a running server.
  const unrelated = spawn('/bin/sh', ['-c', 'while :; do sleep 1; done'], {
    cwd: '/',
    stdio: 'ignore',
    ...user,
  });
  cleanups.push(() => unrelated.kill('SIGKILL'));
  for (const name of ['postmaster.pid', '.s.PGSQL.5432.lock'])
    await plant(join(dataDir, 'postgres', name), lock.replace(/^\d+/, String(unrelated.pid)));
  const { url } = await start();
  expect(await query(url, 'select 1 as n')).toEqual([{ n: 1 }]);
  expect(unrelated.signalCode).toBe(null);
  expect(isAlive(unrelated.pid ?? 0)).toBe(true);
});

test('a PostgreSQL server of another folder is not signalled, even if the lock file names it', async () => {
  const other = await start(copyCluster('other'));
  const first = await start();
  await first.stop();
  const lock = await readFile(join(root, 'other/postgres/postmaster.pid'), 'utf8');
  await plant(join(dataDir, 'postgres/postmaster.pid'), lock);
  const again = await start();
  expect(await query(again.url, 'select 1 as n')).toEqual([{ n: 1 }]);
  expect(await query(other.url, 'select 1 as n')).toEqual([{ n: 1 }]);
});

test('removes the leftovers of a first start that was killed early', async () => {
  const gone = spawn('/bin/sh', ['-c', ':']);
  await once(gone, 'exit');
  const draft = join(newDir, `postgres.draft-${gone.pid}-00000000`);
  await mkdir(draft, { recursive: true });
  await writeFile(join(draft, 'PG_VERSION'), '18\n');
  const { url } = await start(newDir);
  expect(await query(url, 'select 1 as n')).toEqual([{ n: 1 }]);
  expect(existsSync(draft)).toBe(false);
});

test('supports a path that is too long for a socket and contains spaces and quotes', async () => {
  const { url } = await start(join(root, `it's ${'long '.repeat(20)}`, 'and "odd" ünd %41 deep'.repeat(3)));
  expect(await query(url, 'select 1 as n')).toEqual([{ n: 1 }]);
});

test('rejects a cluster of another PostgreSQL version with the error of the server', async () => {
  const first = await start();
  await first.stop();
  await writeFile(join(dataDir, 'postgres/PG_VERSION'), '12\n');
  await expect(start()).rejects.toThrow('database files are incompatible with server');
});

test('rejects a folder with other content and leaves it unchanged', async () => {
  await mkdir(join(newDir, 'postgres'), { recursive: true });
  await writeFile(join(newDir, 'postgres/notes.txt'), 'mine');
  await expect(start(newDir)).rejects.toThrow('contains no PostgreSQL data. Move it somewhere else.');
  expect(await readdir(join(newDir, 'postgres'))).toEqual(['notes.txt']);
});

test('takes over a cluster that was restored with another owner', async () => {
  const first = await start();
  await query(first.url, 'create table kept as select 42 as n');
  await first.stop();
  // Without root, the owner cannot be changed, so this test only restarts the server.
  const files = ['', ...(await readdir(join(dataDir, 'postgres'), { recursive: true }))];
  const me = process.getuid?.() ?? 0;
  for (const file of files) await chown(join(dataDir, 'postgres', file), me, process.getgid?.() ?? 0);
  const second = await start();
  expect(await query(second.url, 'select n from kept')).toEqual([{ n: 42 }]);
});

const isRoot = process.getuid?.() === 0;
test(`${isRoot ? '' : 'not applicable without root: '}under root the server runs as another user, in a folder that this user cannot reach`, async () => {
  const { url } = await start();
  const rows = await query<{ dir: string }>(url, `select current_setting('data_directory') as dir`);
  const owner = (await stat(join(dataDir, 'postgres'))).uid;
  expect(owner === 0).toBe(false);
  if (isRoot) expect((await stat(root)).uid === 0 && (await stat(root)).mode & 0o777).toBe(0o700);
  else expect(owner).toBe(process.getuid?.());
  expect(rows).toHaveLength(1);
});
