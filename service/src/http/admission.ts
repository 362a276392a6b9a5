import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

/**
 * How many requests start in one turn of the event loop. Replies of the database are read once per turn, so a turn that
 * started every request that has arrived would delay the requests that are already running.
 */
const MAX_STARTS_PER_TURN = 16;
const SAMPLE_INTERVAL_MS = 250;
const DATABASE_RETRY_MS = 1;

type Waiting = { request: IncomingMessage; response: ServerResponse; arrivedAt: number };

type Options = {
  /** A request that has waited longer is refused: its caller may have given up, and the others would wait even longer. */
  maxWaitMs: number;
  /** Returns the partner, or null if it is not known. Partners take turns, so one that floods the node delays itself. */
  laneOf(request: IncomingMessage): string | null;
  /** Returns false while the database has enough work of this lane. */
  mayStart(lane: string | null): boolean;
  start: RequestListener;
  refuse: RequestListener;
};

/**
 * Starts requests at the rate at which the node can serve them. While others wait, a request waits in the queue of its
 * lane; it is refused at once if the lane's share of the queue would take longer than half of `maxWaitMs` to serve.
 */
export function createAdmission({ maxWaitMs, laneOf, mayStart, start, refuse }: Options): RequestListener {
  const lanes = new Map<string | null, Waiting[]>();
  let waitingCount = 0;
  let startsInTurn = 0;
  let isScheduled = false;
  let startedCount = 0;
  let sampledAt = 0;
  /** Unlimited until requests have waited for a whole sample, when the node's rate is known, and after a queue was served. */
  let maxWaiting = Number.POSITIVE_INFINITY;

  const scheduleTurn = () => {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(runTurn);
  };
  const remove = (lane: string | null, queue: Waiting[]) => {
    waitingCount--;
    if (queue.length === 0) lanes.delete(lane);
  };
  /** Starts a request of the first lane that may start one. Returns false if there is none. */
  const startNext = (): boolean => {
    for (const [lane, queue] of lanes) {
      if (!mayStart(lane)) continue;
      const next = queue.shift();
      // Moves the lane to the end of the order.
      lanes.delete(lane);
      lanes.set(lane, queue);
      remove(lane, queue);
      if (next === undefined || next.response.destroyed) return true;
      startsInTurn++;
      startedCount++;
      start(next.request, next.response);
      return true;
    }
    return false;
  };
  /** Returns whether any request was late. */
  const refuseLate = (now: number): boolean => {
    const before = waitingCount;
    for (const [lane, queue] of lanes)
      for (let [first] = queue; first !== undefined && now - first.arrivedAt > maxWaitMs; [first] = queue) {
        queue.shift();
        remove(lane, queue);
        refuse(first.request, first.response);
      }
    return waitingCount < before;
  };
  const measure = (now: number, wasLate: boolean) => {
    if (waitingCount === 0 && !wasLate) maxWaiting = Number.POSITIVE_INFINITY;
    else if (now - sampledAt >= SAMPLE_INTERVAL_MS) {
      maxWaiting = ((startedCount / (now - sampledAt)) * maxWaitMs) / 2;
      sampledAt = now;
      startedCount = 0;
    }
  };
  const runTurn = () => {
    isScheduled = false;
    startsInTurn = 0;
    if (waitingCount === 0) return;
    const now = performance.now();
    const wasLate = refuseLate(now);
    while (startsInTurn < MAX_STARTS_PER_TURN && startNext());
    measure(now, wasLate);
    if (startsInTurn > 0) scheduleTurn();
    else if (waitingCount > 0) {
      isScheduled = true;
      setTimeout(runTurn, DATABASE_RETRY_MS);
    }
  };
  return (request, response) => {
    const lane = laneOf(request);
    const queue = lanes.get(lane) ?? [];
    if (queue.length === 0 && startsInTurn < MAX_STARTS_PER_TURN && mayStart(lane)) {
      startsInTurn++;
      startedCount++;
      scheduleTurn();
      start(request, response);
      return;
    }
    if (queue.length > maxWaiting / Math.max(lanes.size, 1)) {
      refuse(request, response);
      return;
    }
    const arrivedAt = request.arrivedAt ?? performance.now();
    if (waitingCount === 0) {
      sampledAt = arrivedAt;
      startedCount = 0;
    }
    queue.push({ request, response, arrivedAt });
    lanes.set(lane, queue);
    waitingCount++;
    scheduleTurn();
  };
}
