/**
 * Shares a limited number of slots between lanes. Work starts immediately while a slot is free. Otherwise the lanes
 * with waiting work take turns, so that a lane with thousands of waiting tasks delays another lane by only one turn.
 */
export type FairQueue = {
  /** Resolves to a function that gives the slot back. Rejects with `timeout()` if no slot is free within `waitMs`. */
  take(lane: string, waitMs?: number): Promise<() => void>;
  waiting(): number;
  /**
   * Returns whether a group of lanes (see `groupOf`) has its full share of waiting tasks. The share is
   * `QUEUED_PER_SLOT` tasks per slot, divided by the number of waiting groups.
   */
  isBusy(group: string): boolean;
};

type Waiting = { start(): void };
/** The waiting tasks of a group: its lanes in the order of their turns, and the total number of tasks. */
type Group = { lanes: Map<string, Set<Waiting>>; size: number };

/**
 * How many tasks may wait per slot before `isBusy` returns true. One is enough, because then a slot that becomes free
 * always has a next task. More would only make each request slower, because a request runs many tasks in sequence.
 */
const QUEUED_PER_SLOT = 1;

export function createFairQueue({
  concurrency,
  maxWaitMs,
  timeout,
  groupOf = (lane) => lane,
}: {
  concurrency: number;
  maxWaitMs: number;
  timeout: () => Error;
  /**
   * Returns the group of a lane. Groups take turns, and the lanes of a group share its turns. Default: one group per
   * lane.
   */
  groupOf?: (lane: string) => string;
}): FairQueue {
  let running = 0;
  let waitingCount = 0;
  /** Groups with waiting work, in the order of their turns. */
  const groups = new Map<string, Group>();

  const join = (lane: string, one: Waiting) => {
    const group = groups.get(groupOf(lane)) ?? { lanes: new Map(), size: 0 };
    groups.set(groupOf(lane), group);
    const waiting = group.lanes.get(lane) ?? new Set();
    group.lanes.set(lane, waiting);
    waiting.add(one);
    group.size++;
    waitingCount++;
  };
  const leave = (lane: string, one: Waiting) => {
    const group = groups.get(groupOf(lane));
    const waiting = group?.lanes.get(lane);
    if (group === undefined || waiting?.delete(one) !== true) return;
    group.size--;
    waitingCount--;
    if (waiting.size === 0) group.lanes.delete(lane);
    if (group.size === 0) groups.delete(groupOf(lane));
  };
  const startNext = () => {
    const group = takeTurn(groups);
    const [lane] = group?.lanes.keys() ?? [];
    const [first] = (group && takeTurn(group.lanes)) ?? [];
    if (lane === undefined || first === undefined) {
      running--;
      return;
    }
    leave(lane, first);
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
  return {
    waiting: () => waitingCount,
    isBusy: (group) => {
      const size = groups.get(group)?.size ?? 0;
      return size > 0 && size >= (QUEUED_PER_SLOT * concurrency) / groups.size;
    },
    take: (lane, waitMs = maxWaitMs) => {
      if (running < concurrency) {
        running++;
        return Promise.resolve(releaseOnce());
      }
      return new Promise((resolve, reject) => {
        const one = {
          start: () => {
            clearTimeout(timer);
            resolve(releaseOnce());
          },
        };
        const timer = setTimeout(() => {
          leave(lane, one);
          reject(timeout());
        }, waitMs);
        join(lane, one);
      });
    },
  };
}

/** Returns the first value, and moves it to the end, so that all others get their turn first. */
function takeTurn<T>(turns: Map<string, T>): T | undefined {
  const [first] = turns;
  if (first === undefined) return undefined;
  turns.delete(first[0]);
  turns.set(...first);
  return first[1];
}
