import { afterAll, vi } from 'vitest';

// The test files of a worker share its modules, so a mock in one file must not affect the next file.
afterAll(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});
