import { ApiError } from '../../kernel/errors.ts';
import { memoryLimiter, WINDOW_MS } from './rate-limits.ts';

/**
 * Limits failed authentication attempts per network, because checking an unknown token or client secret costs a
 * database read. After too many failures, only cached tokens are accepted from the network until the minute ends. Each
 * process counts separately: a shared counter would cost as much as the reads that it prevents.
 */
export type FailedAuthentication = {
  count(network: string): void;
  /** If this returns false, no network is being refused. This costs less than `assertMayTry`. */
  refusesAny(): boolean;
  /** Throws `rate_limited` if the network has failed too often within a minute. */
  assertMayTry(network: string): void;
};

const MAX_REFUSED = 10_000;

export function limitFailures(perMinute: number, now = () => performance.now()): FailedAuthentication {
  const limiter = memoryLimiter(now);
  const refusedUntil = new Map<string, number>();
  return {
    count: (network) => {
      const taken = limiter.take(network, perMinute);
      if (taken instanceof Promise || taken.remaining > 0) return;
      if (refusedUntil.size >= MAX_REFUSED) refusedUntil.clear();
      refusedUntil.set(network, now() + Math.min(taken.resetSeconds * 1000, WINDOW_MS));
    },
    refusesAny: () => refusedUntil.size > 0,
    assertMayTry: (network) => {
      const remainingMs = (refusedUntil.get(network) ?? 0) - now();
      if (remainingMs <= 0) {
        refusedUntil.delete(network);
        return;
      }
      throw new ApiError(
        'rate_limited',
        {},
        { headers: { 'retry-after': String(Math.ceil(remainingMs / 1000)) } },
      );
    },
  };
}
