/**
 * Shares a limited number of slots between lanes. Work starts immediately while a slot is free. Otherwise the lanes
 * with waiting work take turns, so that a lane with thousands of waiting tasks delays another lane by only one turn.
 */
export type FairQueue = {
  /** Resolves to a function that gives the slot back. Rejects with `timeout()` if no slot is free within `waitMs`. */
  take(lane: string, waitMs?: number): Promise<() => void>;
  /** Runs `work` when the lane's turn comes. Rejects as `take` does. */
  run<T>(lane: string, work: () => Promise<T>): Promise<T>;
  waiting(): number;
  /** The number of tasks that have started so far. */
  started(): number;
  /** Returns how many waiting tasks would start before another task of this lane. */
  ahead(lane: string): number;
};

type Waiting = { start(): void };
/** The waiting tasks of a group: its lanes in the order of their turns, and the total number of tasks. */
type Group = { lanes: Map<string, Set<Waiting>>; size: number };

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
  let startedCount = 0;
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
    startedCount++;
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      startNext();
    };
  };
  const take: FairQueue['take'] = (lane, waitMs = maxWaitMs) => {
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
  };
  return {
    take,
    run: async (lane, work) => {
      const release = await take(lane);
      try {
        return await work();
      } finally {
        release();
      }
    },
    waiting: () => waitingCount,
    started: () => startedCount,
    ahead: (lane) => {
      const group = groups.get(groupOf(lane));
      const own = group?.lanes.get(lane);
      const lanesInGroup = (group?.lanes.size ?? 0) + (own === undefined ? 1 : 0);
      const turnsPerRound = lanesInGroup * (groups.size + (group === undefined ? 1 : 0));
      return Math.min(waitingCount, ((own?.size ?? 0) + 1) * turnsPerRound - 1);
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
