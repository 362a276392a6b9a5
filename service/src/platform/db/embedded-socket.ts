import { createHash } from 'node:crypto';
import { lstat, mkdir, readlink, rm, symlink } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const SOCKET_NAME = '.s.PGSQL.5432';

// sockaddr_un holds 108 bytes on Linux and 104 on macOS, including the terminating zero.
const MAX_PATH_BYTES = 103;

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

export async function socketUrl(clusterDir: string, database: string): Promise<string> {
  const host = encodeURIComponent(await socketFolder(clusterDir));
  return `postgresql://causeway@localhost:5432/${database}?host=${host}`;
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
