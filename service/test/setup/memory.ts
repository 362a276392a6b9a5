import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const MEMORY = '/dev/shm';
const PREFIX = 'causeway-tests-';
const NEEDED_BYTES = 4 * 1024 ** 3;
const ABANDONED_AFTER_MS = 6 * 3_600_000;

/**
 * Puts the temporary files of the tests into memory if there is enough memory: the tests create and delete hundreds of
 * databases of a thousand files each. Does nothing if `TMPDIR` is already set.
 */
export function setup(): (() => void) | undefined {
  if (process.env.TMPDIR !== undefined || !isSuitable()) return undefined;
  // Packages are kept for the next run, so they stay on disk.
  process.env.TEST_PACKAGES = join(tmpdir(), 'causeway-test-packages');
  removeAbandoned(MEMORY);
  const folder = mkdtempSync(join(MEMORY, PREFIX));
  // Under root, PostgreSQL runs as another user.
  chmodSync(folder, 0o1777);
  process.env.TMPDIR = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}

/** Removes the folders of runs that were killed, except those of other users. */
export function removeAbandoned(memory: string): void {
  for (const name of readdirSync(memory).filter((each) => each.startsWith(PREFIX))) {
    const path = join(memory, name);
    const changed = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    if (Date.now() - changed < ABANDONED_AFTER_MS) continue;
    try {
      rmSync(path, { recursive: true, force: true });
    } catch (error) {
      console.warn(`could not remove the folder of an earlier run: ${String(error)}`);
    }
  }
}

function isSuitable(): boolean {
  if (!existsSync(MEMORY) || !existsSync('/proc/mounts')) return false;
  const mount = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' '))
    .findLast(([, path]) => path === MEMORY);
  const [, , type, options = ''] = mount ?? [];
  // Tests run programs that they have written to a temporary folder.
  if (type !== 'tmpfs' || /\b(noexec|ro)\b/.test(options)) return false;
  const { bavail, bsize } = statfsSync(MEMORY);
  // Unlike `freemem`, `availableMemory` knows the memory limit of a container, and these files count towards it.
  return Math.min(bavail * bsize, process.availableMemory()) >= NEEDED_BYTES;
}
