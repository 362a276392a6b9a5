/** A token bucket that refills by one token per `intervalMs`, up to `burst` tokens. */
export type TokenBucket = {
  /** Takes a token and returns true, or returns false if the bucket is empty. */
  take(now: number): boolean;
};

export function createTokenBucket({ intervalMs, burst }: { intervalMs: number; burst: number }): TokenBucket {
  let tokens = burst;
  let refilledAt = 0;
  return {
    take: (now) => {
      tokens = Math.min(burst, tokens + (now - refilledAt) / intervalMs);
      refilledAt = now;
      if (tokens < 1) return false;
      tokens -= 1;
      return true;
    },
  };
}
