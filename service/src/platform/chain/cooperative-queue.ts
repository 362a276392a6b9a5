export type CooperativeQueue = <T>(work: () => T) => Promise<T>;

const SLICE_MS = 3;

/** Runs short synchronous tasks in order and yields to the event loop after every `sliceMs` milliseconds. */
export function createCooperativeQueue(sliceMs = SLICE_MS): CooperativeQueue {
  let queue: (() => void)[] = [];
  let next = 0;
  let running = false;
  const run = () => {
    const sliceEnd = performance.now() + sliceMs;
    do {
      queue[next]?.();
      next += 1;
    } while (next < queue.length && performance.now() < sliceEnd);
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
