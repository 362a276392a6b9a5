/** Limits calls to `maxCalls` per sliding window. Calls above the limit wait for a slot. */
export type CallRate = {
  /**
   * Resolves to true when the call may start. Resolves to false immediately if the wait would exceed
   * `maxWaitMs`.
   */
  take(maxWaitMs: number): Promise<boolean>;
};

export function createCallRate(
  maxCalls: number,
  windowMs: number,
  now: () => number = () => performance.now(),
): CallRate {
  /** Start times of the most recent calls, including reserved future ones, in order. */
  const starts: number[] = [];
  return {
    take: async (maxWaitMs) => {
      const time = now();
      while (starts.length > 0 && (starts[0] ?? 0) <= time - windowMs) starts.shift();
      const before = starts[starts.length - maxCalls];
      const start = before === undefined ? time : Math.max(time, before + windowMs);
      if (start - time > maxWaitMs) return false;
      starts.push(start);
      if (start > time) await new Promise((resolve) => setTimeout(resolve, start - time));
      return true;
    },
  };
}
