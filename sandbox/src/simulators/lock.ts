import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

/** The holder of a lock. While the holder runs, `GET {url}/instance` returns `instance`. */
export type LockHolder = { url: string; instance: string };

const LOCK_TIMEOUT_MS = 10_000;
const POLL_INTERVAL_MS = 50;
const PROBE_TIMEOUT_MS = 2_000;

/**
 * Locks the data folder against other processes. Returns a function that releases the lock. Call that function while
 * this process's control server still responds. Once the server has stopped, another process may take over the lock,
 * and the function would release that process's lock.
 *
 * If another live process holds the lock, waits up to ten seconds for that process to exit, because a process needs
 * time to notice that its parent was killed. Throws if that process is still alive after ten seconds. A process is
 * alive if its control server responds. A process id proves nothing, because ids are reused after a reboot.
 */
export async function takeLock(path: string, self: LockHolder): Promise<() => Promise<void>> {
  const deadline = performance.now() + LOCK_TIMEOUT_MS;
  while (!(await createLockFile(path, self))) {
    const holder = await readHolder(path);
    if (holder === 'none') continue;
    if (holder === 'unreadable' || !(await isAlive(holder))) await breakLock(path, holder, self);
    else if (performance.now() > deadline)
      throw new Error(
        `another sandbox (${holder.url}) is using this data folder; stop it, or delete ${path} if it is no longer running`,
      );
    else await sleep(POLL_INTERVAL_MS);
  }
  return () => rm(path, { force: true });
}

/**
 * Removes a dead holder's lock, unless another process has already replaced it with its own. A second lock, named after
 * the dead holder, ensures that only one process at a time checks the first lock and removes it.
 */
async function breakLock(path: string, dead: LockHolder | 'unreadable', self: LockHolder): Promise<void> {
  const nameOf = (holder: LockHolder | 'unreadable' | 'none') =>
    typeof holder === 'string' ? holder : holder.instance;
  const release = await takeLock(`${path}.${nameOf(dead)}`, self);
  try {
    if (nameOf(await readHolder(path)) === nameOf(dead)) await rm(path, { force: true });
  } finally {
    await release();
  }
}

/** Creates the lock with its content in one step, so that no process reads a lock that is still empty. */
async function createLockFile(path: string, { url, instance }: LockHolder): Promise<boolean> {
  const complete = `${path}.of.${instance}`;
  await writeFile(complete, JSON.stringify({ url, instance }));
  try {
    await link(complete, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(complete, { force: true });
  }
}

async function readHolder(path: string): Promise<LockHolder | 'unreadable' | 'none'> {
  try {
    const holder = JSON.parse(await readFile(path, 'utf8'));
    return isHolder(holder) ? holder : 'unreadable';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'none' : 'unreadable';
  }
}

/** Checks `instance` strictly, because it becomes part of a file name. */
function isHolder(value: Partial<LockHolder> | null): value is LockHolder {
  return typeof value?.url === 'string' && /^[A-Za-z0-9-]{1,64}$/.test(value.instance ?? '');
}

/** A holder that is too busy to respond in time counts as alive. */
async function isAlive({ url, instance }: LockHolder): Promise<boolean> {
  try {
    const response = await fetch(`${url}/instance`, { signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) });
    return (await response.text()) === instance;
  } catch (error) {
    return (error as Error).name === 'TimeoutError';
  }
}
