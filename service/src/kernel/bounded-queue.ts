import { ApiError } from './errors.ts';

export type BoundedQueue = {
  /** Runs `work` when its turn comes. Throws `unavailable` immediately if the queue is full. */
  run<T>(work: () => Promise<T>): Promise<T>;
};

/** Runs at most `concurrency` tasks at a time and lets at most `maxWaiting` tasks wait. */
export function createBoundedQueue({
  concurrency,
  maxWaiting,
}: {
  concurrency: number;
  maxWaiting: number;
}): BoundedQueue {
  let running = 0;
  const waiting: (() => void)[] = [];
  return {
    run: async (work) => {
      if (running >= concurrency) {
        if (waiting.length >= maxWaiting)
          throw new ApiError('unavailable', {}, { headers: { 'retry-after': '2' } });
        await new Promise<void>((resolve) => waiting.push(resolve));
      } else running++;
      try {
        return await work();
      } finally {
        const next = waiting.shift();
        if (next === undefined) running--;
        else next();
      }
    },
  };
}
