import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, chown, lchown, mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ServerUser } from './embedded-user.ts';

const run = promisify(execFile);

/** Where the binaries are, where the data is, and whom the server runs as. */
export interface Cluster {
  bin: string;
  dir: string;
  user: ServerUser | undefined;
  settings: Readonly<Record<string, string>>;
}

/**
 * How the server names its own folder. Under root the server runs as a user who may not be allowed to enter the
 * folders above (root's home); it is started inside the folder, and this link leads there without passing them.
 */
export function ownFolder(cluster: Cluster): string {
  return cluster.user && process.platform === 'linux' ? '/proc/self/cwd' : cluster.dir;
}

export function serverEnvironment(): NodeJS.ProcessEnv {
  // Variables such as PGDATA, PGPORT or LC_ALL of the caller must not reach the server.
  return { PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };
}

/** Makes the cluster unless it exists. A half-made one is never seen: it gets its name only when complete. */
export async function ensureCluster(cluster: Cluster, log: (message: string) => void): Promise<void> {
  await removeDrafts(cluster.dir);
  if (await isCluster(cluster.dir)) return adoptCluster(cluster);
  log(`making a new PostgreSQL database in ${cluster.dir}`);
  const draft = { ...cluster, dir: `${cluster.dir}.draft-${process.pid}-${randomBytes(4).toString('hex')}` };
  await mkdir(draft.dir, { mode: 0o700 });
  await chmod(draft.dir, 0o700);
  try {
    if (draft.user) await chown(draft.dir, draft.user.uid, draft.user.gid);
    await runInitdb(draft);
    await rename(draft.dir, cluster.dir).catch(async (error: unknown) => {
      // Another process was faster; its cluster is as good as ours.
      if (await isCluster(cluster.dir)) return;
      throw new Error(`${cluster.dir} exists and holds no PostgreSQL data: move it away.`, { cause: error });
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
    // One that we may not read is not one that is missing.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw new Error(
      `${dir} cannot be read. Start as the user it belongs to, or choose another CAUSEWAY_DATA.`,
      {
        cause: error,
      },
    );
  }
}

/** Root may have restored the folder from a copy; the server accepts only files of its own user. */
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
  // Sorts by code point as C does, and knows upper and lower case beyond ASCII.
  args.push('--locale-provider=builtin', '--builtin-locale=C.UTF-8');
  // The socket lies in a folder that only the server's user and root can enter; no other way in exists.
  args.push('--auth-local=trust', '--auth-host=reject');
  if (cluster.settings.fsync === 'off') args.push('--no-sync');
  try {
    const options = { cwd: cluster.dir, env: serverEnvironment(), timeout: 120_000, ...cluster.user };
    await run(join(cluster.bin, 'initdb'), args, options);
  } catch (error) {
    const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
    throw new Error(
      `PostgreSQL could not make its database in ${cluster.dir}: ${said || String(error)}\n` +
        'Another folder can be chosen with CAUSEWAY_DATA, another PostgreSQL with DATABASE_URL.',
      { cause: error },
    );
  }
}

/** What a killed first start left behind. */
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
