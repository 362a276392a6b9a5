import { execFile } from 'node:child_process';
import { open, readdir, readFile, readlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { isAnswering, socketName } from './embedded-socket.ts';

const run = promisify(execFile);

/** What stands behind the pid in a cluster's lock file. */
export type Holder =
  | { kind: 'none' }
  /** The pid is free, or belongs to a program that is no server of this folder. */
  | { kind: 'stranger'; pid: number }
  /** A server of this folder; `owner` is the Causeway process that started it, while that one lives. */
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
  if (!found) return { kind: 'stranger', pid };
  // A process whose parent died is handed to another one, so a parent that is still the starter is alive.
  const starter = Number(/causeway\.owner=(\d+)/.exec(found.command)?.[1]);
  return { kind: 'server', pid, owner: starter === found.parent ? starter : undefined };
}

async function inspectLinux(pid: number, clusterDir: string) {
  if (!(await isServerProcess(pid, clusterDir))) return undefined;
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  const status = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The second field, the name in brackets, may itself hold blanks and brackets.
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
 * Makes the folder free for a new server, or says who has it. Signals go only to a process that was just seen to
 * be a server of this folder: the pid in the lock file may by now belong to anything.
 */
export async function releaseCluster(clusterDir: string, log: (message: string) => void): Promise<void> {
  const holder = await findHolder(clusterDir);
  if (holder.kind === 'none') return;
  if (holder.kind === 'server') {
    if (holder.owner !== undefined && holder.owner !== process.pid)
      throw new Error(
        `The data in ${clusterDir} is in use by another Causeway process (pid ${holder.owner}). ` +
          'Stop it first, or choose another folder with CAUSEWAY_DATA.',
      );
    if (holder.owner === process.pid)
      throw new Error(`This process has already started the database in ${clusterDir}.`);
    log(`stopping the PostgreSQL that an earlier run left behind (pid ${holder.pid})`);
    await stopServer(holder.pid, clusterDir);
    return;
  }
  if (await isAnswering(clusterDir))
    throw new Error(
      `The data in ${clusterDir} is served by a PostgreSQL that this process cannot see, perhaps in another container. ` +
        'Stop it first, or choose another folder with CAUSEWAY_DATA.',
    );
  await disownLocks(clusterDir, holder.pid);
}

/** Fast shutdown, then immediate; never SIGKILL, which would leave backends writing without a postmaster. */
async function stopServer(pid: number, clusterDir: string): Promise<void> {
  for (const signal of ['SIGINT', 'SIGQUIT'] as const) {
    for (let waited = 0; waited < 15_000; waited += 50) {
      const holder = await findHolder(clusterDir);
      if (holder.kind !== 'server' || holder.pid !== pid) return;
      if (waited === 0) process.kill(pid, signal);
      await sleep(50);
    }
  }
  throw new Error(`The PostgreSQL of an earlier run (pid ${pid}) in ${clusterDir} does not stop.`);
}

/**
 * PostgreSQL refuses to start while the pid of its lock files is alive, whatever program that is, but passes over
 * its own parent's. So the stranger's pid is replaced by ours; the rest of the file stays, because from it the new
 * server learns which shared memory to look at for survivors.
 */
async function disownLocks(clusterDir: string, stranger: number): Promise<void> {
  for (const name of ['postmaster.pid', `${socketName}.lock`]) {
    const path = join(clusterDir, name);
    const text = await readFile(path, 'utf8').catch(() => '');
    if (Number(text.split('\n')[0]) !== stranger) continue;
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

/** The other processes of a killed server: each leaves by itself, but one busy with a long query does so late. */
export async function endOrphans(clusterDir: string): Promise<void> {
  if (process.platform !== 'linux') return;
  for (const entry of await readdir('/proc')) {
    const pid = Number(entry);
    if (!Number.isInteger(pid)) continue;
    const found = await inspectLinux(pid, clusterDir);
    // Another start may be under way at this moment: neither a postmaster nor its children are orphans.
    if (!found || found.command.includes('causeway.owner=')) continue;
    if (await isServerProcess(found.parent, clusterDir)) continue;
    try {
      process.kill(pid, 'SIGQUIT');
    } catch {
      // It left in between.
    }
  }
}
