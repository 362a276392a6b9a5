import { type ChildProcess, spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { open, readFile, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Cluster, ownFolder, serverEnvironment } from './embedded-cluster.ts';
import { readLock } from './embedded-postmaster.ts';

export interface Server {
  /**
   * Stops the server after a last checkpoint. If stopping takes longer than `forceAfterMs`, stops the server without a
   * checkpoint.
   */
  stop(forceAfterMs?: number): Promise<void>;
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
const MAX_LOG_BYTES = 10_000_000;
const FORCE_STOP_MS = 7_000;

/**
 * Makes one attempt to start the server. Returns the server when it accepts connections, or the reason why it did not
 * start.
 */
export async function launchServer(
  cluster: Cluster,
  log: (message: string) => void,
): Promise<{ server: Server } | { failure: string }> {
  const logPath = join(cluster.dir, '..', 'postgres.log');
  const logStart = await rotateLog(logPath);
  const { child, exited } = await spawnServer(cluster, logPath);
  const guard = guardServer(child, exited, cluster);
  const stop = (forceAfterMs = FORCE_STOP_MS) => stopServer(child, exited, guard, forceAfterMs);
  if (await waitUntilReady(child, exited, cluster, log)) return { server: { stop, exited } };
  await stop();
  const output = (await readFile(logPath)).subarray(logStart).toString().trim();
  const reason = output.match(/(?:FATAL|PANIC|ERROR): +(.*)/)?.[1];
  return { failure: reason ?? (output || 'it exited without output') };
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
