/** Spreads calls so that no more than `count` begin within any `window` milliseconds; the others wait for their turn. */
export type CallRate = {
  /** Resolves when the call may begin; false when that would be later than `patience` milliseconds from now. */
  take(patience: number): Promise<boolean>;
};

export function createCallRate(
  count: number,
  window: number,
  now: () => number = () => performance.now(),
): CallRate {
  /** When each of the last `count` calls began or will begin, in order. */
  const starts: number[] = [];
  return {
    take: async (patience) => {
      const time = now();
      while (starts.length > 0 && (starts[0] ?? 0) <= time - window) starts.shift();
      const before = starts[starts.length - count];
      const start = before === undefined ? time : Math.max(time, before + window);
      if (start - time > patience) return false;
      starts.push(start);
      if (start > time) await new Promise((resolve) => setTimeout(resolve, start - time));
      return true;
    },
  };
}
