import { execFile } from 'node:child_process';
import { open, readdir, readFile, readlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { isAnswering, SOCKET_NAME } from './cluster.ts';

const run = promisify(execFile);

/** The process whose pid is in a cluster's lock file. */
export type Holder =
  | { kind: 'none' }
  /** No process has the pid, or the pid belongs to an unrelated program. */
  | { kind: 'unrelated'; pid: number }
  /** The server of this folder. `owner` is the Causeway process that started it, if that process is still running. */
  | { kind: 'server'; pid: number; owner: number | undefined };

export async function readLock(clusterDir: string): Promise<{ pid: number; ready: boolean } | undefined> {
  const lines = (await readFile(join(clusterDir, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n');
  const pid = Number(lines[0]);
  return Number.isInteger(pid) && pid > 0 ? { pid, ready: lines[7]?.trim() === 'ready' } : undefined;
}

export async function findHolder(clusterDir: string): Promise<Holder> {
  const lock = await readLock(clusterDir);
  if (!lock) return { kind: 'none' };
  const { pid } = lock;
  const found =
    process.platform === 'linux' ? await inspectLinux(pid, clusterDir) : await inspectPs(pid, clusterDir);
  if (!found) return { kind: 'unrelated', pid };
  // If the process that started the server is still the server's parent, that process is alive: when a parent dies, its
  // children get a new parent.
  const starter = Number(/causeway\.owner=(\d+)/.exec(found.command)?.[1]);
  return { kind: 'server', pid, owner: starter === found.parent ? starter : undefined };
}

async function inspectLinux(pid: number, clusterDir: string) {
  if (!(await isServerProcess(pid, clusterDir))) return undefined;
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  const status = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // Skips past the second field, the program's name in parentheses, which may itself contain spaces and parentheses.
  const parent = Number(status.slice(status.lastIndexOf(')') + 2).split(' ')[1]);
  return command === '' ? undefined : { command, parent };
}

async function isServerProcess(pid: number, clusterDir: string): Promise<boolean> {
  const [folder, program] = await Promise.all([
    readlink(`/proc/${pid}/cwd`).catch(() => ''),
    readlink(`/proc/${pid}/exe`).catch(() => ''),
  ]);
  return folder === clusterDir && basename(program).replace(/ \(deleted\)$/, '') === 'postgres';
}

async function inspectPs(pid: number, clusterDir: string) {
  const args = ['-ww', '-o', 'ppid=,command=', '-p', String(pid)];
  const line = await run('ps', args, { timeout: 5000 }).then(
    ({ stdout }) => stdout.trim(),
    () => '',
  );
  const match = /^(\d+)\s+(.*)$/s.exec(line);
  if (!match?.[2]?.includes(`causeway.data=${clusterDir} `)) return undefined;
  return { command: match[2], parent: Number(match[1]) };
}

/**
 * Frees the folder for a new server, or throws if another process uses the folder. Sends signals only to a process that
 * was just identified as a server of this folder, because the pid in the lock file may have been reused.
 */
export async function releaseCluster(clusterDir: string, log: (message: string) => void): Promise<void> {
  const holder = await findHolder(clusterDir);
  if (holder.kind === 'none') return;
  if (holder.kind === 'server') {
    if (holder.owner !== undefined && holder.owner !== process.pid)
      throw new Error(
        `The data in ${clusterDir} is in use by another Causeway process (pid ${holder.owner}). ` +
          'Stop that process first, or set CAUSEWAY_DATA to another folder.',
      );
    if (holder.owner === process.pid)
      throw new Error(`This process has already started the database in ${clusterDir}.`);
    log(`stopping the PostgreSQL server left behind by an earlier run (pid ${holder.pid})`);
    await stopServer(holder.pid, clusterDir);
    return;
  }
  if (await isAnswering(clusterDir))
    throw new Error(
      `The data in ${clusterDir} is in use by a PostgreSQL server that this process cannot see, perhaps in another container. ` +
        'Stop that server first, or set CAUSEWAY_DATA to another folder.',
    );
  await takeOverLocks(clusterDir, holder.pid);
}

/**
 * Requests a fast shutdown, then an immediate one. Never sends SIGKILL: backends would keep writing without a
 * postmaster.
 */
async function stopServer(pid: number, clusterDir: string): Promise<void> {
  for (const signal of ['SIGINT', 'SIGQUIT'] as const) {
    for (let waited = 0; waited < 15_000; waited += 50) {
      const holder = await findHolder(clusterDir);
      if (holder.kind !== 'server' || holder.pid !== pid) return;
      if (waited === 0) process.kill(pid, signal);
      await sleep(50);
    }
  }
  throw new Error(
    `The PostgreSQL server of an earlier run (pid ${pid}) in ${clusterDir} did not stop. Stop it, then start Causeway again.`,
  );
}

/**
 * Replaces the pid of an unrelated process in the lock files with our own. PostgreSQL refuses to start while a process
 * with the pid in its lock file is alive, unless that process is the new server's parent, as ours will be. Keeps the
 * rest of each lock file, which tells the new server in which shared memory to look for surviving processes.
 */
async function takeOverLocks(clusterDir: string, unrelatedPid: number): Promise<void> {
  for (const name of ['postmaster.pid', `${SOCKET_NAME}.lock`]) {
    const path = join(clusterDir, name);
    const text = await readFile(path, 'utf8').catch(() => '');
    if (Number(text.split('\n')[0]) !== unrelatedPid) continue;
    const file = await open(path, 'r+');
    try {
      const changed = text.replace(/^\s*\d+/, String(process.pid));
      await file.write(changed, 0);
      await file.truncate(Buffer.byteLength(changed));
    } finally {
      await file.close();
    }
  }
}

/** Ends the child processes of a killed server. They would exit by themselves, but only after their current query. */
export async function endOrphans(clusterDir: string): Promise<void> {
  if (process.platform !== 'linux') return;
  for (const entry of await readdir('/proc')) {
    const pid = Number(entry);
    if (!Number.isInteger(pid)) continue;
    const found = await inspectLinux(pid, clusterDir);
    // Spares a running postmaster and its children, because another start may be in progress.
    if (!found || found.command.includes('causeway.owner=')) continue;
    if (await isServerProcess(found.parent, clusterDir)) continue;
    try {
      process.kill(pid, 'SIGQUIT');
    } catch {
      // The process has exited in the meantime.
    }
  }
}
