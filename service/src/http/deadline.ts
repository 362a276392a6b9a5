import { ApiError } from '../errors.ts';

/** Ends requests whose handler takes too long. One timer for all, because a timer each costs more than most handlers. */
export type Deadlines = { watch<T>(work: Promise<T>): Promise<T>; stop(): void };

type Entry = { since: number; reject: (error: Error) => void };

export function createDeadlines(limit = 30_000, every = 500): Deadlines {
  const running = new Set<Entry>();
  const timer = setInterval(() => {
    const before = performance.now() - limit;
    for (const entry of running) {
      // The set keeps the order of arrival: the first young one ends the search.
      if (entry.since > before) break;
      running.delete(entry);
      entry.reject(
        new ApiError(
          'upstream_unavailable',
          {},
          { message: 'The request took too long.', headers: { 'retry-after': '5' } },
        ),
      );
    }
  }, every);
  timer.unref();
  return {
    stop: () => clearInterval(timer),
    watch: (work) =>
      new Promise((resolve, reject) => {
        const entry = { since: performance.now(), reject };
        running.add(entry);
        work.then(
          (value) => {
            running.delete(entry);
            resolve(value);
          },
          (error) => {
            running.delete(entry);
            reject(error);
          },
        );
      }),
  };
}
