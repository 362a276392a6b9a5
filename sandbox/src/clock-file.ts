import type { Clock, TestClock } from '@causeway/service/kernel/clock.ts';
import { openJsonFile } from './simulators/json-file.ts';

/**
 * Sets a test clock to the stored time, so that a restart does not move the clock. If the clock moved back, the chains
 * would be ahead of the clock, because they cannot go back in time. Quotes and permissions would then expire on chain
 * immediately. Returns a function that stores the time.
 */
export async function restoreClock(clock: Clock, path: string): Promise<(nowMs: number) => Promise<void>> {
  const file = await openJsonFile<{ now_ms: number | null }>(path, { now_ms: null });
  const { now_ms: stored } = file.data;
  const store = (nowMs: number | null) => {
    file.data.now_ms = nowMs;
    return file.save();
  };
  if (stored !== null && 'set' in clock) (clock as TestClock).set(stored);
  // When the real clock has reached the stored time, the chains follow real time. Forgets the stored time, so that a
  // later start with a test clock does not go back to it.
  else if (stored !== null && stored <= clock.now()) await store(null);
  return store;
}
