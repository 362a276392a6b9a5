import type { Config, LimitName } from '../../kernel/config/config.ts';
import { LIMITS } from '../../kernel/config/rate-limits.ts';
import { ApiError } from '../../kernel/errors.ts';
import type { Db } from '../db/pool.ts';
import { countRequest } from './rate-limit-store.ts';

/** The state of a rate limit after counting one request. */
export type Taken = { allowed: boolean; limit: number; remaining: number; resetSeconds: number };

/** Counts requests per key in fixed one-minute windows. A window starts with the key's first request. */
export type Limiter = { take(key: string, perMinute: number): Taken | Promise<Taken> };

export const WINDOW_MS = 60_000;

type Window = { count: number; end: number };

/**
 * Counts requests in this process. Keys are stored in two generations. Every minute, the older generation is dropped as
 * a whole, because all of its windows have ended. To limit memory, the older generation is dropped earlier if the newer
 * generation reaches `maxKeys`. `now` is monotonic real time, independent of the application clock.
 */
export function memoryLimiter(now: () => number = () => performance.now(), maxKeys = 100_000): Limiter {
  let current = new Map<string, Window>();
  let previous = new Map<string, Window>();
  let startedAt = now();
  return {
    take: (key, perMinute) => {
      const time = now();
      if (time - startedAt >= WINDOW_MS || current.size >= maxKeys) {
        previous = time - startedAt >= 2 * WINDOW_MS ? new Map() : current;
        current = new Map();
        startedAt = time;
      }
      let window = current.get(key) ?? previous.get(key);
      if (window === undefined || window.end <= time) window = { count: 0, end: time + WINDOW_MS };
      if (window.count === 0 || !current.has(key)) current.set(key, window);
      window.count++;
      return taken(window.count, perMinute, window.end - time);
    },
  };
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

/** Returns the state of a limit whose window counts `count` requests and ends in `remainingMs`. */
export function taken(count: number, limit: number, remainingMs: number): Taken {
  return {
    allowed: count <= limit,
    limit,
    remaining: Math.max(0, limit - count),
    resetSeconds: Math.max(1, Math.ceil(remainingMs / 1000)),
  };
}

/**
 * Returns a limiter that also calls `count` for each refused request, with the name of the exceeded limit. This name is
 * the first word of the key. Only keys of the general limit, `api`, start with a client id instead.
 */
export function countRefusals(limiter: Limiter, count: (limit: string) => void): Limiter {
  const report = (taken: Taken, key: string): Taken => {
    const [word = ''] = taken.allowed ? [] : key.split(' ', 1);
    if (!taken.allowed) count(Object.hasOwn(LIMITS, word) ? word : 'api');
    return taken;
  };
  return {
    take: (key, perMinute) => {
      const taken = limiter.take(key, perMinute);
      return taken instanceof Promise ? taken.then((later) => report(later, key)) : report(taken, key);
    },
  };
}

/**
 * Counts a request against a limit and returns the state of the limit. Throws `rate_limited` if the limit is exceeded.
 * Synchronous if the limits are in memory.
 */
export function enforceLimit(
  { limiter, config }: { limiter: Limiter; config: Pick<Config, 'limits'> },
  name: LimitName,
  key: string,
): Taken | Promise<Taken> {
  const taken = limiter.take(`${name} ${key}`, config.limits[name]);
  return taken instanceof Promise ? taken.then(assertAllowed) : assertAllowed(taken);
}

function assertAllowed(taken: Taken): Taken {
  const { allowed, limit, resetSeconds } = taken;
  if (allowed) return taken;
  const headers = {
    'retry-after': String(resetSeconds),
    'ratelimit-limit': String(limit),
    'ratelimit-remaining': '0',
    'ratelimit-reset': String(resetSeconds),
  };
  throw new ApiError('rate_limited', {}, { headers });
}
