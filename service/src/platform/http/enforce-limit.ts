import type { LimitName } from '../../kernel/config/config.ts';
import { ApiError } from '../../kernel/errors.ts';
import type { Kernel } from '../context/kernel.ts';
import type { Taken } from '../limits/rate-limits.ts';

/**
 * Counts a request against a limit and returns the state of the limit. Throws `rate_limited` if the limit is exceeded.
 * Synchronous if the limits are in memory.
 */
export function enforceLimit(
  { limiter, config }: Pick<Kernel, 'limiter' | 'config'>,
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
