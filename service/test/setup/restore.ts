import { afterAll, vi } from 'vitest';

// The test files of a worker share its modules, so a mock of one file must not affect the next.
afterAll(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});
