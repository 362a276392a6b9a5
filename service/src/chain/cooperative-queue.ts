/** Runs a piece of work when its turn comes. */
export type CooperativeQueue = <T>(work: () => T) => Promise<T>;

const SLICE = 3;

/**
 * For short work that would block the event loop when many ask at once: pieces run one after another for at most so
 * many milliseconds, then everything else gets its turn.
 */
export function createCooperativeQueue(slice = SLICE): CooperativeQueue {
  let queue: (() => void)[] = [];
  let next = 0;
  let running = false;
  const run = () => {
    const end = performance.now() + slice;
    do {
      queue[next]?.();
      next += 1;
    } while (next < queue.length && performance.now() < end);
    if (next >= queue.length) {
      queue = [];
      next = 0;
      running = false;
    } else setImmediate(run);
  };
  return <T>(work: () => T) =>
    new Promise<T>((resolve, reject) => {
      queue.push(() => {
        try {
          resolve(work());
        } catch (error) {
          reject(error);
        }
      });
      if (running) return;
      running = true;
      setImmediate(run);
    });
}
