import type { Clock, TestClock } from '@causeway/service/clock.ts';
import { openJsonFile } from './simulators/json-file.ts';

/**
 * Sets a test clock to the stored time, so that a restart does not move the clock: the chains cannot go back in time,
 * and on a chain that is ahead of the clock, quotes and permissions expire immediately. Returns a function that stores
 * the time.
 */
export async function restoreClock(clock: Clock, path: string): Promise<(nowMs: number) => Promise<void>> {
  const file = await openJsonFile<{ now_ms: number | null }>(path, { now_ms: null });
  const { now_ms: stored } = file.data;
  const store = (nowMs: number | null) => {
    file.data.now_ms = nowMs;
    return file.save();
  };
  if (stored !== null && 'set' in clock) (clock as TestClock).set(stored);
  // Once real time has reached the stored time, the chains move on with real time. A test clock that is used again
  // later must then not return to the stored time.
  else if (stored !== null && stored <= clock.now()) await store(null);
  return store;
}
