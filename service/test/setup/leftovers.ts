import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, vi } from 'vitest';

const GRACE_MS = 500;
const POLL_MS = 20;

/** Vitest itself keeps pipes to its main process. */
const openResources = () =>
  process.getActiveResourcesInfo().filter((name) => name !== 'PipeWrap' && name !== 'CloseReq');

// Runs after the hooks of the file. The files of a worker share its process, so whatever one of them leaves behind
// (a timer that blocks the event loop, for example) slows down or breaks the next ones.
afterAll(async () => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  const deadline = performance.now() + GRACE_MS;
  while (openResources().length > 0 && performance.now() < deadline) await sleep(POLL_MS);
  const left = openResources();
  if (left.length > 0)
    process.stderr.write(`\nleft open by ${expect.getState().testPath}: ${left.join(', ')}\n`);
});
