import { afterAll, vi } from 'vitest';

// The files of a worker share its modules, so what one of them has replaced must not reach the next.
afterAll(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});
