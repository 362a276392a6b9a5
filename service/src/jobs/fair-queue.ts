/**
 * Shares a limited number of slots between lanes. Work starts immediately while a slot is free. Otherwise the lanes
 * with waiting work take turns, so that a lane with thousands of waiting tasks delays another lane by only one turn.
 */
export type FairQueue = {
  /** Resolves to a function that gives the slot back. Rejects with `timeout()` if no slot is free within `waitMs`. */
  take(lane: string, waitMs?: number): Promise<() => void>;
  /**
   * Takes a slot synchronously and returns true, or returns false if none is free. Call `release` once for each slot
   * taken.
   */
  tryTake(): boolean;
  release(): void;
  waiting(): number;
  /**
   * Returns whether the lane has its full share of waiting tasks. The share is `QUEUED_PER_SLOT` tasks per
   * slot, divided by the number of lanes that wait.
   */
  isBusy(lane: string): boolean;
  /** Returns whether more than `QUEUED_PER_SLOT` tasks per slot are waiting. */
  isFull(): boolean;
};

type Waiting = { start(): void };

/**
 * Enough waiting tasks to keep the slots in use while the event loop is busy with other work. More of them would only
 * make each task wait longer, and a request needs many tasks, one after the other.
 */
const QUEUED_PER_SLOT = 1;

export function createFairQueue({
  concurrency,
  maxWaitMs,
  timeout,
}: {
  concurrency: number;
  maxWaitMs: number;
  timeout: () => Error;
}): FairQueue {
  let running = 0;
  let waitingCount = 0;
  /** Lanes with waiting work, in the order of their turns. */
  const lanes = new Map<string, Set<Waiting>>();

  const leave = (lane: string, waiting: Set<Waiting>, one: Waiting) => {
    waiting.delete(one);
    waitingCount--;
    if (waiting.size === 0) lanes.delete(lane);
  };
  const startNext = () => {
    const [turn] = lanes;
    const [first] = turn?.[1] ?? [];
    if (turn === undefined || first === undefined) {
      running--;
      return;
    }
    const [lane, waiting] = turn;
    // Moves the lane to the end of the order, so that all other lanes get their turn first.
    lanes.delete(lane);
    lanes.set(lane, waiting);
    leave(lane, waiting, first);
    first.start();
  };
  const releaseOnce = () => {
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      startNext();
    };
  };
  const tryTake = () => {
    if (running >= concurrency) return false;
    running++;
    return true;
  };
  return {
    waiting: () => waitingCount,
    isBusy: (lane) => {
      const size = lanes.get(lane)?.size ?? 0;
      return size > 0 && size >= (QUEUED_PER_SLOT * concurrency) / lanes.size;
    },
    isFull: () => waitingCount > QUEUED_PER_SLOT * concurrency,
    tryTake,
    release: startNext,
    take: (lane, waitMs = maxWaitMs) => {
      if (tryTake()) return Promise.resolve(releaseOnce());
      const waiting = lanes.get(lane) ?? new Set();
      lanes.set(lane, waiting);
      waitingCount++;
      return new Promise((resolve, reject) => {
        const one = {
          start: () => {
            clearTimeout(timer);
            resolve(releaseOnce());
          },
        };
        const timer = setTimeout(() => {
          leave(lane, waiting, one);
          reject(timeout());
        }, waitMs);
        waiting.add(one);
      });
    },
  };
}
