import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import {
  chmod,
  chown,
  lchown,
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  stat,
  symlink,
} from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ServerUser } from './binaries.ts';

const run = promisify(execFile);
export const SOCKET_NAME = '.s.PGSQL.5432';
// sockaddr_un holds 108 bytes on Linux and 104 on macOS, including the terminating zero.
const MAX_PATH_BYTES = 103;

/** The server's binaries, data folder, user and settings. */
export interface Cluster {
  bin: string;
  dir: string;
  user: ServerUser | undefined;
  settings: Readonly<Record<string, string>>;
}

/**
 * Returns the path that the server uses for its data folder. If this process is root, the server runs as another user,
 * who may not be able to enter the parent folders, such as root's home. On Linux, the server therefore starts inside
 * the data folder and uses its working directory as the path.
 */
export function ownFolder(cluster: Cluster): string {
  return cluster.user && process.platform === 'linux' ? '/proc/self/cwd' : cluster.dir;
}

export function serverEnvironment(): NodeJS.ProcessEnv {
  // The server must not inherit the caller's PGDATA, PGPORT, LC_ALL and the like.
  return { PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };
}

/**
 * Creates the cluster unless it exists. The folder gets its final name only when complete, so a partial cluster is
 * never used.
 */
export async function ensureCluster(cluster: Cluster, log: (message: string) => void): Promise<void> {
  await removeDrafts(cluster.dir);
  if (await isCluster(cluster.dir)) return adoptCluster(cluster);
  log(`creating a PostgreSQL database in ${cluster.dir}`);
  const draft = { ...cluster, dir: `${cluster.dir}.draft-${process.pid}-${randomBytes(4).toString('hex')}` };
  await mkdir(draft.dir, { mode: 0o700 });
  await chmod(draft.dir, 0o700);
  try {
    if (draft.user) await chown(draft.dir, draft.user.uid, draft.user.gid);
    await runInitdb(draft);
    await rename(draft.dir, cluster.dir).catch(async (error: unknown) => {
      // Another process created the cluster first.
      if (await isCluster(cluster.dir)) return;
      throw new Error(`${cluster.dir} exists but contains no PostgreSQL data. Move it somewhere else.`, {
        cause: error,
      });
    });
  } finally {
    await rm(draft.dir, { recursive: true, force: true });
  }
}

async function isCluster(dir: string): Promise<boolean> {
  try {
    await readFile(join(dir, 'PG_VERSION'));
    return true;
  } catch (error) {
    // Only a missing file proves that there is no cluster. A cluster that cannot be read must not be created again.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw new Error(`${dir} cannot be read. Start as its owner, or set CAUSEWAY_DATA to another folder.`, {
      cause: error,
    });
  }
}

/**
 * Changes the owner of a folder that root restored from a backup: the server accepts only files that its own user owns.
 */
async function adoptCluster({ dir, user }: Cluster): Promise<void> {
  if (!user || (await stat(dir)).uid === user.uid) return;
  for (const name of await readdir(dir, { recursive: true }))
    await lchown(join(dir, name), user.uid, user.gid);
  await chown(dir, user.uid, user.gid);
  await chmod(dir, 0o700);
}

async function runInitdb(cluster: Cluster): Promise<void> {
  const args = [
    '-D',
    ownFolder(cluster),
    '-U',
    'causeway',
    '--encoding=UTF8',
    '--locale=C',
    '--no-instructions',
  ];
  // `C.UTF-8` sorts by code point, like `C`. Unlike `C`, it also converts the case of letters beyond ASCII.
  args.push('--locale-provider=builtin', '--builtin-locale=C.UTF-8');
  // `trust` is safe: the only way to connect is the socket in the data folder, which only the server's user and root
  // can enter.
  args.push('--auth-local=trust', '--auth-host=reject');
  if (cluster.settings.fsync === 'off') args.push('--no-sync');
  try {
    const options = { cwd: cluster.dir, env: serverEnvironment(), timeout: 120_000, ...cluster.user };
    await run(join(cluster.bin, 'initdb'), args, options);
  } catch (error) {
    const output = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
    throw new Error(
      `PostgreSQL could not create its database in ${cluster.dir}: ${output || String(error)}\n` +
        'Set CAUSEWAY_DATA to another folder, or DATABASE_URL to another PostgreSQL.',
      { cause: error },
    );
  }
}

/** Removes incomplete clusters left behind by a first start that was killed. */
async function removeDrafts(dir: string): Promise<void> {
  const parent = join(dir, '..');
  for (const name of await readdir(parent)) {
    const pid = Number(/^postgres\.draft-(\d+)-/.exec(name)?.[1]);
    if (!pid || isAlive(pid)) continue;
    await rm(join(parent, name), { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/**
 * Returns the folder for the cluster's socket: the cluster's own folder, or a link to it with a short path if the
 * folder's path is too long for a socket.
 */
export async function socketFolder(clusterDir: string): Promise<string> {
  if (fits(clusterDir)) return clusterDir;
  const home = linkHome(clusterDir);
  await mkdir(home, { mode: 0o700 }).catch(ignoreExisting);
  const info = await lstat(home);
  if (!info.isDirectory() || info.uid !== process.getuid?.() || (info.mode & 0o077) !== 0)
    throw new Error(
      `${home} must be a folder that belongs to this user and that nobody else can access. Remove it, or set CAUSEWAY_DATA to a shorter path.`,
    );
  const link = join(home, 'pg');
  if ((await readlink(link).catch(() => '')) !== clusterDir) {
    await rm(link, { force: true });
    await symlink(clusterDir, link).catch(ignoreExisting);
  }
  return link;
}

/** Removes the short link, if there is one. */
export async function removeSocketLink(clusterDir: string): Promise<void> {
  if (!fits(clusterDir)) await rm(linkHome(clusterDir), { recursive: true, force: true });
}

function linkHome(clusterDir: string): string {
  const digest = createHash('sha256').update(clusterDir).digest('hex');
  const name = `causeway-${process.getuid?.()}-${digest.slice(0, 16)}`;
  const home = [tmpdir(), '/tmp']
    .map((folder) => join(folder, name))
    .find((folder) => fits(join(folder, 'pg')));
  if (home) return home;
  throw new Error(`The path ${clusterDir} is too long for a socket. Set CAUSEWAY_DATA to a shorter path.`);
}

/** Returns the URL of the database that `initdb` creates. */
export async function socketUrl(clusterDir: string): Promise<string> {
  const host = encodeURIComponent(await socketFolder(clusterDir));
  return `postgresql://causeway@localhost:5432/postgres?host=${host}`;
}

export async function isAnswering(clusterDir: string): Promise<boolean> {
  const path = join(await socketFolder(clusterDir), SOCKET_NAME);
  return new Promise((resolve) => {
    const socket = connect(path);
    const settle = (isListening: boolean) => {
      socket.destroy();
      resolve(isListening);
    };
    socket.setTimeout(1000, () => settle(true));
    socket.once('connect', () => settle(true)).once('error', () => settle(false));
  });
}

function fits(folder: string): boolean {
  return Buffer.byteLength(join(folder, SOCKET_NAME)) <= MAX_PATH_BYTES;
}

function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}
