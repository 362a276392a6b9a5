import { ApiError } from '../../kernel/errors.ts';

/**
 * Rejects requests whose handler takes too long. All requests share one timer, because a timer per request would cost
 * more than most handlers.
 */
export type Deadlines = { watch<T>(work: Promise<T>): Promise<T>; stop(): void };

/** How long a handler may take. */
export const HANDLER_TIMEOUT_MS = 30_000;

type Entry = { since: number; reject: (error: Error) => void };

export function createDeadlines(timeoutMs = HANDLER_TIMEOUT_MS, checkIntervalMs = 500): Deadlines {
  const running = new Set<Entry>();
  const timer = setInterval(() => {
    const oldest = performance.now() - timeoutMs;
    for (const entry of running) {
      // The set is ordered by arrival, so the search stops at the first request that is still within its time limit.
      if (entry.since > oldest) break;
      running.delete(entry);
      entry.reject(
        new ApiError(
          'upstream_unavailable',
          {},
          { message: 'The request timed out.', headers: { 'retry-after': '5' } },
        ),
      );
    }
  }, checkIntervalMs);
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
