import type { Db } from '../db/pool.ts';
import { countRequest } from './rate-limit-store.ts';

/** The state of a rate limit after counting one request. */
export type Taken = { allowed: boolean; limit: number; remaining: number; resetSeconds: number };

/** Rate limits: counts requests per key in fixed one-minute windows; a window starts with the key's first request. */
export type Limiter = { take(key: string, perMinute: number): Taken | Promise<Taken> };

const WINDOW_MS = 60_000;

/** Counts in this process. `now` is monotonic real time, independent of the application clock. */
export function memoryLimiter(now: () => number = () => performance.now(), maxKeys = 200_000): Limiter {
  const windows = new Map<string, { count: number; end: number }>();
  return {
    take: (key, perMinute) => {
      const time = now();
      let window = windows.get(key);
      if (window === undefined || window.end <= time) {
        if (window === undefined && windows.size >= maxKeys) evict(windows, time);
        // Deleting first moves the key to the end, which keeps the map ordered by window end.
        windows.delete(key);
        window = { count: 0, end: time + WINDOW_MS };
        windows.set(key, window);
      }
      window.count++;
      return taken(window.count, perMinute, window.end - time);
    },
  };
}

/** Removes the expired windows, which come first, or the oldest one if none has expired. */
function evict(windows: Map<string, { end: number }>, time: number): void {
  let removed = 0;
  for (const [key, { end }] of windows) {
    if (removed > 0 && end > time) break;
    windows.delete(key);
    removed++;
  }
}

/** Counts in PostgreSQL, for several nodes behind one address. Costs one statement per request. */
export function postgresLimiter(db: Db): Limiter {
  return {
    take: async (key, perMinute) => {
      const { count, remainingMs } = await countRequest(db, key);
      return taken(count, perMinute, remainingMs);
    },
  };
}

function taken(count: number, limit: number, remainingMs: number): Taken {
  return {
    allowed: count <= limit,
    limit,
    remaining: Math.max(0, limit - count),
    resetSeconds: Math.max(1, Math.ceil(remainingMs / 1000)),
  };
}
