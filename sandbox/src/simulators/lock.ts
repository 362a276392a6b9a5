import { readFile, rm, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

/** `url` answers `GET /instance` with the instance's name as long as it runs. */
export type LockHolder = { url: string; instance: string };

const PATIENCE_MILLISECONDS = 10_000;

/**
 * Keeps two processes off one data folder. The holder is alive as long as its control server answers, which a process
 * id (reused after a reboot) would not tell. A predecessor whose parent was killed needs a moment to notice.
 */
export async function takeLock(path: string, { url, instance }: LockHolder): Promise<() => Promise<void>> {
  const deadline = performance.now() + PATIENCE_MILLISECONDS;
  while (!(await create(path, JSON.stringify({ url, instance })))) {
    const holder = await readHolder(path);
    if (!holder || !(await answers(holder))) await rm(path, { force: true });
    else if (performance.now() > deadline)
      throw new Error(`${path} is held by another running sandbox (${holder.url})`);
    else await sleep(50);
  }
  return () => rm(path, { force: true });
}

async function create(path: string, content: string): Promise<boolean> {
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

async function answers({ url, instance }: LockHolder): Promise<boolean> {
  try {
    const response = await fetch(`${url}/instance`, { signal: AbortSignal.timeout(2000) });
    return (await response.text()) === instance;
  } catch {
    return false;
  }
}
