import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { realClock, testClock } from '@causeway/service/kernel/clock.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { restoreClock } from './clock-file.ts';

const NOW = Date.parse('2026-06-01T00:00:00Z');
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'causeway-clock-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Starts a test clock at `NOW`, as a restart does, and returns its time. */
async function restartedTime(): Promise<number> {
  const clock = testClock(NOW);
  await restoreClock(clock, join(folder, 'clock.json'));
  return clock.now();
}

test.each([
  ['that is still to come stays stored, because the chains have not moved on', 2040, true],
  ['that has passed is forgotten, because the chains have moved on', 2020, false],
])('after a start with real time, a stored time %s', async (_, year, isKept) => {
  const stored = Date.parse(`${year}-01-01T00:00:00Z`);
  const path = join(folder, 'clock.json');
  await (await restoreClock(testClock(NOW), path))(stored);
  expect(await restartedTime()).toBe(stored);
  await restoreClock(realClock(), path);
  expect(await restartedTime()).toBe(isKept ? stored : NOW);
});
