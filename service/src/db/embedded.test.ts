import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { isAlive, listProcesses } from '../../test/setup/processes.ts';
import { type Embedded, findEmbedded, startEmbedded } from './embedded.ts';
import { chooseServerUser } from './embedded-user.ts';

// For a busy machine; what is waited for comes far sooner.
const patience = { timeout: 20_000 };
let root: string;
let dataDir: string;
let logged: string[];
const cleanups: (() => unknown)[] = [];

beforeEach(async () => {
  // Private, as root's home is: everything here also holds where the server's user cannot enter.
  root = await mkdtemp(join(tmpdir(), 'causeway-embedded-'));
  await chmod(root, 0o700);
  dataDir = join(root, 'data');
  logged = [];
});

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  // A server whose owner was just killed may still be writing its last files.
  await rm(root, { recursive: true, force: true, maxRetries: 50, retryDelay: 100 });
});

async function start(folder = dataDir): Promise<Embedded> {
  const server = await startEmbedded({ dataDir: folder, log: (message) => logged.push(message) });
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

/** Another Causeway process on the same folder; `acknowledged` grows while it writes. */
async function startOwner(folder = dataDir) {
  const script = new URL('../../test/setup/embedded-owner.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, ['--import', 'tsx', script, folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  cleanups.push(() => child.kill('SIGKILL'));
  const exited = once(child, 'exit');
  const said: string[] = [];
  child.stdout.on('data', (data: Buffer) => said.push(data.toString()));
  const lines = () => said.join('').split('\n').slice(0, -1);
  const settled = () => lines().some((line) => line === 'started' || line.startsWith('failed'));
  await expect.poll(settled, patience).toBe(true);
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

/** Writes a file into a cluster as the server itself would have. */
async function plant(path: string, text: string): Promise<void> {
  const { uid, gid } = await stat(join(path, '..'));
  await writeFile(path, text);
  await chown(path, uid, gid);
}

async function countNumbers(url: string): Promise<number> {
  return (await query<{ n: number }>(url, 'select count(*)::int as n from numbers'))[0]?.n ?? 0;
}

test('starts, stops, and keeps its data over a restart and not over the removal of its folder', async () => {
  const first = await start();
  await query(first.url, 'create table kept as select 42 as n');
  await first.stop();
  expect(isAlive(await serverPid().catch(() => 2 ** 30))).toBe(false);

  const second = await start();
  expect(await query(second.url, 'select n from kept')).toEqual([{ n: 42 }]);
  await second.stop();

  await rm(dataDir, { recursive: true });
  const third = await start();
  await expect(query(third.url, 'select n from kept')).rejects.toThrow('does not exist');
});

test('is durable, in UTC, sorts by code point, and can be reached by nobody else', async () => {
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

test('loses no acknowledged row when server and clients are killed while writing', async () => {
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
  await expect.poll(() => acknowledged.length, patience).toBeGreaterThan(500);
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

test('loses no acknowledged row when the postmaster alone is killed and its processes linger', async () => {
  const { url } = await start();
  await query(url, 'create table numbers as select 1 as n');
  const busy = new pg.Client({ connectionString: url });
  busy.on('error', () => undefined);
  await busy.connect();
  // Never looks up from its work, so it does not see that the postmaster is gone.
  const lingering = busy.query(`do $$ begin loop end loop; end $$`).catch(() => undefined);
  process.kill(await serverPid(), 'SIGKILL');
  const again = await start();
  expect(await countNumbers(again.url)).toBe(1);
  await lingering;
});

test('the server leaves by itself when its owner is killed, and the next start has every acknowledged row', async () => {
  const owner = await startOwner();
  await expect.poll(owner.acknowledged, patience).toBeGreaterThan(50);
  const pid = await serverPid();
  await owner.kill('SIGKILL');
  await expect.poll(() => isAlive(pid), patience).toBe(false);
  const { url } = await start();
  expect(await countNumbers(url)).toBeGreaterThanOrEqual(owner.acknowledged());
  expect(logged).toEqual([]);
});

test('a server left behind by a killed owner is found and stopped', async () => {
  const owner = await startOwner();
  await expect.poll(owner.acknowledged, patience).toBeGreaterThan(50);
  const pid = await serverPid();
  const guard = listProcesses().find(
    ({ parent, command }) => parent === owner.pid && command.startsWith('/bin/sh'),
  );
  process.kill(guard?.pid ?? 0, 'SIGKILL');
  await owner.kill('SIGKILL');
  expect(isAlive(pid)).toBe(true);
  const { url } = await start();
  expect(logged).toEqual([`stopping the PostgreSQL that an earlier run left behind (pid ${pid})`]);
  expect(isAlive(pid)).toBe(false);
  expect(await countNumbers(url)).toBeGreaterThanOrEqual(owner.acknowledged());
});

test('a second start on the same data is refused, names the first, and does it no harm', async () => {
  const owner = await startOwner();
  await expect(start()).rejects.toThrow(`in use by another Causeway process (pid ${owner.pid})`);
  expect(await countNumbers((await findEmbedded(dataDir)) ?? '')).toBeGreaterThanOrEqual(0);
  const before = owner.acknowledged();
  await expect.poll(owner.acknowledged, patience).toBeGreaterThan(before);
  await owner.kill('SIGKILL');
});

test('of several first starts at once on the same data exactly one gets it', async () => {
  const owners = await Promise.all([startOwner(), startOwner(), startOwner()]);
  const winner = owners.find(({ failure }) => failure === undefined);
  const failures = owners.flatMap(({ failure }) => failure ?? []);
  expect(failures).toHaveLength(2);
  for (const failure of failures) expect(failure).toContain(`another Causeway process (pid ${winner?.pid})`);
  expect((await readdir(dataDir)).sort()).toEqual(['postgres', 'postgres.log']);
  await winner?.kill('SIGKILL');
});

test('a program that got the pid of a dead server is never touched and does not block the start', async () => {
  const first = await start();
  const lock = await readFile(join(dataDir, 'postgres/postmaster.pid'), 'utf8');
  const user = await chooseServerUser(join(dataDir, 'postgres'));
  await first.stop();
  // Of the server's own user: only then would PostgreSQL itself take it for a living server.
  const stranger = spawn('/bin/sh', ['-c', 'while :; do sleep 1; done'], {
    cwd: '/',
    stdio: 'ignore',
    ...user,
  });
  cleanups.push(() => stranger.kill('SIGKILL'));
  for (const name of ['postmaster.pid', '.s.PGSQL.5432.lock'])
    await plant(join(dataDir, 'postgres', name), lock.replace(/^\d+/, String(stranger.pid)));
  const { url } = await start();
  expect(await query(url, 'select 1 as n')).toEqual([{ n: 1 }]);
  expect(stranger.signalCode).toBe(null);
  expect(isAlive(stranger.pid ?? 0)).toBe(true);
});

test('a PostgreSQL of another folder is never touched, even when the lock file names it', async () => {
  const other = await start(join(root, 'other'));
  const mine = await start();
  await mine.stop();
  const lock = await readFile(join(root, 'other/postgres/postmaster.pid'), 'utf8');
  await plant(join(dataDir, 'postgres/postmaster.pid'), lock);
  const again = await start();
  expect(await query(again.url, 'select 1 as n')).toEqual([{ n: 1 }]);
  expect(await query(other.url, 'select 1 as n')).toEqual([{ n: 1 }]);
});

test('what a start killed during its first seconds left behind is cleared away', async () => {
  const gone = spawn('/bin/sh', ['-c', ':']);
  await once(gone, 'exit');
  const draft = join(dataDir, `postgres.draft-${gone.pid}-00000000`);
  await mkdir(draft, { recursive: true });
  await writeFile(join(draft, 'PG_VERSION'), '18\n');
  const { url } = await start();
  expect(await query(url, 'select 1 as n')).toEqual([{ n: 1 }]);
  expect(existsSync(draft)).toBe(false);
});

test('a path too long for a socket, with blanks and quotes in it, works', async () => {
  const { url } = await start(join(root, `it's ${'long '.repeat(20)}`, 'and "odd" ünd %41 deep'.repeat(3)));
  expect(await query(url, 'select 1 as n')).toEqual([{ n: 1 }]);
});

test('a cluster of another PostgreSQL version is refused with what the server says', async () => {
  const first = await start();
  await first.stop();
  await writeFile(join(dataDir, 'postgres/PG_VERSION'), '12\n');
  await expect(start()).rejects.toThrow('database files are incompatible with server');
});

test('a folder with something else in it is refused and left as it is', async () => {
  await mkdir(join(dataDir, 'postgres'), { recursive: true });
  await writeFile(join(dataDir, 'postgres/notes.txt'), 'mine');
  await expect(start()).rejects.toThrow('holds no PostgreSQL data: move it away');
  expect(await readdir(join(dataDir, 'postgres'))).toEqual(['notes.txt']);
});

test('a cluster that was restored with another owner is taken over', async () => {
  const first = await start();
  await query(first.url, 'create table kept as select 42 as n');
  await first.stop();
  // Without root the owner cannot change, and this is a plain restart.
  const files = ['', ...(await readdir(join(dataDir, 'postgres'), { recursive: true }))];
  const me = process.getuid?.() ?? 0;
  for (const file of files) await chown(join(dataDir, 'postgres', file), me, process.getgid?.() ?? 0);
  const second = await start();
  expect(await query(second.url, 'select n from kept')).toEqual([{ n: 42 }]);
});

const asRoot = process.getuid?.() === 0;
test(`${asRoot ? '' : 'not applicable without root: '}under root the server runs as another user, in a folder that user cannot reach`, async () => {
  const { url } = await start();
  const rows = await query<{ dir: string }>(url, `select current_setting('data_directory') as dir`);
  const owner = (await stat(join(dataDir, 'postgres'))).uid;
  expect(owner === 0).toBe(false);
  if (asRoot) expect((await stat(root)).uid === 0 && (await stat(root)).mode & 0o777).toBe(0o700);
  else expect(owner).toBe(process.getuid?.());
  expect(rows).toHaveLength(1);
});
