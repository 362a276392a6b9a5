/** Allows one thing every so many milliseconds, and as many as `burst` after a rest. */
export type TokenBucket = { take(now: number): boolean };

export function createTokenBucket({ every, burst }: { every: number; burst: number }): TokenBucket {
  let left = burst;
  let counted = 0;
  return {
    take: (now) => {
      left = Math.min(burst, left + (now - counted) / every);
      counted = now;
      if (left < 1) return false;
      left -= 1;
      return true;
    },
  };
}
