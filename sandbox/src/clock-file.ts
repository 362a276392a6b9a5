import { rm } from 'node:fs/promises';
import type { Clock, TestClock } from '@causeway/service/clock.ts';
import { openJsonFile } from './simulators/json-file.ts';

/**
 * Sets a test clock to the stored time, so that a restart does not move it: the chains cannot go back in time, and on a
 * chain that is ahead of the clock, quotes and permissions expire immediately. Returns a function that stores the time.
 */
export async function restoreClock(clock: Clock, path: string): Promise<(nowMs: number) => Promise<void>> {
  // With real time, the chains move on. A test clock that is used again later must not return to the stored time.
  if (!('set' in clock)) await rm(path, { force: true });
  const file = await openJsonFile<{ now_ms: number | null }>(path, { now_ms: null });
  if (file.data.now_ms !== null) (clock as TestClock).set(file.data.now_ms);
  return (nowMs) => {
    file.data.now_ms = nowMs;
    return file.save();
  };
}
