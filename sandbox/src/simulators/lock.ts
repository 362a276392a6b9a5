import { readFile, rm, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

/** The holder of a lock. While it runs, `GET {url}/instance` returns `instance`. */
export type LockHolder = { url: string; instance: string };

const LOCK_TIMEOUT_MS = 10_000;
const POLL_INTERVAL_MS = 50;
const PROBE_TIMEOUT_MS = 2_000;

/**
 * Locks the data folder against other processes. Returns a function that releases the lock. If a live process holds the
 * lock, waits up to ten seconds for it to exit, because a holder whose parent was killed needs time to notice. Throws
 * if the holder is still alive after that. A holder is alive if its control server responds. Its process id would not
 * prove this, because ids are reused after a reboot.
 */
export async function takeLock(path: string, { url, instance }: LockHolder): Promise<() => Promise<void>> {
  const deadline = performance.now() + LOCK_TIMEOUT_MS;
  while (!(await createLockFile(path, JSON.stringify({ url, instance })))) {
    const holder = await readHolder(path);
    if (!holder || !(await isAlive(holder))) await rm(path, { force: true });
    else if (performance.now() > deadline)
      throw new Error(`another running sandbox (${holder.url}) holds ${path}`);
    else await sleep(POLL_INTERVAL_MS);
  }
  return () => rm(path, { force: true });
}

async function createLockFile(path: string, content: string): Promise<boolean> {
  try {
    await writeFile(path, content, { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

async function readHolder(path: string): Promise<LockHolder | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch {
    return undefined;
  }
}

async function isAlive({ url, instance }: LockHolder): Promise<boolean> {
  try {
    const response = await fetch(`${url}/instance`, { signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) });
    return (await response.text()) === instance;
  } catch {
    return false;
  }
}
