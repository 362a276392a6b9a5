/** Allows one thing every so many milliseconds, and as many as `burst` after a rest. */
export type Budget = { take(now: number): boolean };

export function createBudget({ every, burst }: { every: number; burst: number }): Budget {
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
