import { type ChildProcess, spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { mkdir, open, readFile, realpath, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { chooseServerUser, findPackage, locateBinaries, sharedFolders } from './binaries.ts';
import {
  type Cluster,
  ensureCluster,
  ownFolder,
  removeSocketLink,
  serverEnvironment,
  socketFolder,
  socketUrl,
} from './cluster.ts';
import { endOrphans, findHolder, readLock, releaseCluster } from './lock.ts';

export interface PostgresOptions {
  dataDir: string;
  log: (message: string) => void;
  /**
   * Overrides server settings. Used only by tests, for example to turn off `fsync`: test data need not survive a crash.
   */
  settings?: Readonly<Record<string, string>>;
}

export interface Postgres {
  /**
   * The URL that connects to the database as its owner. The URL works in any process of the same user on this machine.
   */
  url: string;
  /**
   * Stops the server and resolves when it has exited. After `forceAfterMs`, stops it without a checkpoint: the next
   * start then replays the WAL.
   */
  stop(forceAfterMs?: number): Promise<void>;
  /** Resolves when the server has exited, for whatever reason. */
  exited: Promise<void>;
}

const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: '',
  port: '5432',
  // The path is relative to the data folder, because the length of a socket's path is limited.
  unix_socket_directories: '.',
  unix_socket_permissions: '0700',
  cluster_name: 'causeway',
  max_connections: '200',
  shared_buffers: '128MB',
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  timezone: 'UTC',
  log_timezone: 'UTC',
  jit: 'off',
  // Our queries are too short to gain from parallel workers, which need more shared memory than containers have by
  // default.
  max_parallel_workers_per_gather: '0',
  // Statement errors are reported to the caller and not logged, because they could contain personal data.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_checkpoints: 'off',
};

const START_TIMEOUT_MS = 300_000;
const MAX_START_ATTEMPTS = 100;
const MAX_LOG_BYTES = 10_000_000;
const FORCE_STOP_MS = 7_000;
const LINK_INTERVAL_MS = 600_000;

/** Starts a PostgreSQL server on `<dataDir>/postgres`; see docs/decisions/0002-embedded-postgres.md. */
export async function startPostgres(options: PostgresOptions): Promise<Postgres> {
  const { log } = options;
  const dir = await clusterDir(options.dataDir);
  const user = await chooseServerUser(dir);
  const copyTo = user ? sharedFolders() : [join(dir, '..')];
  const bin = await locateBinaries({ user, native: findPackage(), copyTo });
  const cluster: Cluster = { bin, dir, user, settings: options.settings ?? {} };
  await ensureCluster(cluster, log);
  for (let attempt = 1; ; attempt++) {
    await releaseCluster(dir, log);
    const result = await launchServer(cluster, log);
    if ('stop' in result) return result;
    // Retries if something still holds the folder. If another process is starting the server, the next call to
    // `releaseCluster` throws an error about that process. If processes of a killed server still hold its shared
    // memory, they will exit soon.
    const isHeld = /lock file "[^"]*" (already exists|is empty)|pre-existing shared memory/.test(
      result.failure,
    );
    if (!isHeld || attempt === MAX_START_ATTEMPTS)
      throw new Error(`PostgreSQL did not start in ${dir}: ${result.failure}`);
    if (result.failure.includes('pre-existing shared memory')) await endOrphans(dir);
    await sleep(150);
  }
}

/**
 * Returns the URL of the server that another Causeway process runs in this data folder, or undefined if there is none.
 */
export async function findPostgres(dataDir: string): Promise<string | undefined> {
  const dir = await clusterDir(dataDir);
  const holder = await findHolder(dir);
  return holder.kind === 'server' && holder.owner !== undefined ? socketUrl(dir) : undefined;
}

/**
 * Returns the URL of the database in `dataDir`. If no running service has started the server, starts it, and `stop`
 * stops it again.
 */
export async function openPostgres(dataDir: string): Promise<Pick<Postgres, 'url' | 'stop'>> {
  const running = await findPostgres(dataDir);
  if (running !== undefined) return { url: running, stop: async () => undefined };
  return startPostgres({ dataDir, log: () => undefined });
}

async function clusterDir(dataDir: string): Promise<string> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  return join(await realpath(dataDir), 'postgres');
}

/**
 * Makes one attempt to start the server. Returns the server when it accepts connections, or the reason why it did not
 * start.
 */
async function launchServer(
  cluster: Cluster,
  log: (message: string) => void,
): Promise<Postgres | { failure: string }> {
  const logPath = join(cluster.dir, '..', 'postgres.log');
  const logStart = await rotateLog(logPath);
  const { child, exited } = await spawnServer(cluster, logPath);
  const guard = guardServer(child, exited, cluster);
  const stop = (forceAfterMs = FORCE_STOP_MS) => stopServer(child, exited, guard, forceAfterMs);
  if (await waitUntilReady(child, exited, cluster, log)) return connectable(cluster.dir, { exited, stop });
  await stop();
  const output = (await readFile(logPath)).subarray(logStart).toString().trim();
  const reason = output.match(/(?:FATAL|PANIC|ERROR): +(.*)/)?.[1];
  return { failure: reason ?? (output || 'it exited without output') };
}

async function connectable(dir: string, { exited, stop }: Omit<Postgres, 'url'>): Promise<Postgres> {
  // If the path of the cluster is too long for a socket, clients use a short link in the folder for temporary files. A
  // cleanup may remove the link, so it is recreated regularly.
  const keepLink = setInterval(() => void socketFolder(dir).catch(() => undefined), LINK_INTERVAL_MS);
  keepLink.unref();
  const stopAll = async (forceAfterMs?: number) => {
    clearInterval(keepLink);
    await stop(forceAfterMs);
    await removeSocketLink(dir);
  };
  try {
    return { url: await socketUrl(dir), exited, stop: stopAll };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function rotateLog(path: string): Promise<number> {
  const size = (await stat(path).catch(() => undefined))?.size ?? 0;
  if (size < MAX_LOG_BYTES) return size;
  await rename(path, `${path}.1`);
  return 0;
}

async function spawnServer(cluster: Cluster, logPath: string) {
  const args = ['-D', ownFolder(cluster)];
  // `findHolder` reads these markers from the command line of the server. `causeway.owner` is the process that started
  // the server. `causeway.data` identifies the folder in the output of `ps`.
  const markers = { 'causeway.owner': String(process.pid), 'causeway.data': cluster.dir };
  for (const [name, value] of Object.entries({ ...markers, ...SETTINGS, ...cluster.settings }))
    args.push('-c', `${name}=${value}`);
  const logFile = await open(logPath, 'a', 0o600);
  try {
    const child = spawn(join(cluster.bin, 'postgres'), args, {
      cwd: cluster.dir,
      env: serverEnvironment(),
      stdio: ['ignore', logFile.fd, logFile.fd],
      // The server runs in a separate session, so that Ctrl-C in the terminal does not stop it before the requests in
      // progress have finished.
      detached: true,
      ...cluster.user,
    });
    const exited = new Promise<void>((resolve) => {
      child.once('exit', () => resolve());
      child.once('error', (error) => {
        appendFileSync(logPath, `FATAL:  ${error.message}\n`);
        resolve();
      });
    });
    child.unref();
    return { child, exited };
  } finally {
    await logFile.close();
  }
}

/**
 * Starts a shell that waits on a pipe from this process. If this process dies, the pipe closes and the shell stops the
 * server.
 */
function guardServer(child: ChildProcess, exited: Promise<void>, cluster: Cluster): ChildProcess | undefined {
  if (child.pid === undefined) return undefined;
  const guard = spawn('/bin/sh', ['-c', 'read -r line || kill -INT "$0"', String(child.pid)], {
    cwd: '/',
    env: serverEnvironment(),
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    ...cluster.user,
  });
  // If the guard cannot start, the server runs without it. If this process then dies, the server keeps running until
  // the service starts again and stops it.
  guard.on('error', () => undefined);
  guard.stdin?.on('error', () => undefined);
  guard.unref();
  // Releases the guard as soon as the server exits, so that the guard never signals a process that reuses the pid.
  void exited.then(() => guard.stdin?.end('gone\n'));
  return guard;
}

async function waitUntilReady(
  child: ChildProcess,
  exited: Promise<void>,
  cluster: Cluster,
  log: (message: string) => void,
): Promise<boolean> {
  let gone = child.pid === undefined;
  void exited.then(() => {
    gone = true;
  });
  const began = performance.now();
  let nextNotice = 3000;
  while (!gone && performance.now() - began < START_TIMEOUT_MS) {
    const lock = await readLock(cluster.dir);
    if (lock?.pid === child.pid && lock?.ready) return true;
    if (performance.now() - began > nextNotice) {
      log('PostgreSQL is still recovering its data');
      nextNotice += 5000;
    }
    await sleep(10);
  }
  return false;
}

async function stopServer(
  child: ChildProcess,
  exited: Promise<void>,
  guard: ChildProcess | undefined,
  forceAfterMs: number,
): Promise<void> {
  if (child.exitCode === null && child.signalCode === null && child.pid !== undefined) {
    child.ref();
    child.kill('SIGINT');
    // An immediate stop loses nothing: the next start replays the WAL.
    const force = setTimeout(() => child.kill('SIGQUIT'), forceAfterMs);
    await exited;
    clearTimeout(force);
  }
  guard?.stdin?.end('gone\n');
}
