import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

/**
 * How many requests may start in one turn of the event loop, and how long starting them may take. The node reads
 * database replies once per turn, and a request needs several. If one turn started every request that has arrived, the
 * requests already running would wait longer for their replies.
 */
const MAX_STARTS_PER_TURN = 16;
const MAX_START_MS_PER_TURN = 1;
/**
 * How many turns in a row may start nothing because a connection has arrived. Node accepts one connection per turn. If
 * every turn started requests, the other connections would wait in the operating system, where the node cannot see
 * how long they have waited and cannot refuse them.
 */
const MAX_ACCEPT_TURNS = 64;
const SAMPLE_INTERVAL_MS = 250;
const DATABASE_RETRY_MS = 1;

type Waiting = { request: IncomingMessage; response: ServerResponse; arrivedAt: number };

type Options = {
  /**
   * A request that has waited longer than this is refused: its caller may have given up, and serving it would
   * delay the requests behind it.
   */
  maxWaitMs: number;
  /**
   * Returns the id of the request's partner as its lane, or null if the partner is not known. Lanes take
   * turns, so a partner that floods the node delays only itself.
   */
  laneOf(request: IncomingMessage): string | null;
  /**
   * Returns whether the database has room for a request of this lane: it has none while too many of the lane's queries
   * wait.
   */
  mayStart(lane: string | null): boolean;
  start: RequestListener;
  refuse: RequestListener;
};

type Admission = {
  admit: RequestListener;
  /**
   * Returns whether the lane has its full share of the queue, so that a request which cannot start is refused. A lane
   * whose requests hardly wait is never full: after a pause of the process, the measured rate is too low.
   */
  isFull(lane: string | null): boolean;
  /** Call it for every new connection. */
  noticeConnection(): void;
};

/**
 * Starts requests at the rate at which the node can serve them. If requests are already waiting, a new one
 * joins the queue of its lane. It is refused at once if serving the lane's share of the queue would take
 * longer than half of `maxWaitMs`.
 */
export function createAdmission({ maxWaitMs, laneOf, mayStart, start, refuse }: Options): Admission {
  const lanes = new Map<string | null, Waiting[]>();
  let waitingCount = 0;
  let startsInTurn = 0;
  /** When the first request of this turn started. */
  let firstStartAt = 0;
  let isScheduled = false;
  let hasNewConnection = false;
  let acceptTurns = 0;
  let startedCount = 0;
  let sampledAt = 0;
  /**
   * How many requests may wait. Unlimited until the rate of the node has been measured over a whole sample in
   * which requests waited. Unlimited again once the queue is empty.
   */
  let maxWaiting = Number.POSITIVE_INFINITY;

  const hasTurnRoom = (now: number): boolean =>
    startsInTurn === 0 || (startsInTurn < MAX_STARTS_PER_TURN && now - firstStartAt < MAX_START_MS_PER_TURN);
  const startNow = (request: IncomingMessage, response: ServerResponse, now: number) => {
    if (startsInTurn === 0) firstStartAt = now;
    startsInTurn++;
    startedCount++;
    start(request, response);
  };
  const scheduleTurn = () => {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(runTurn);
  };
  const remove = (lane: string | null, queue: Waiting[]) => {
    waitingCount--;
    if (queue.length === 0) lanes.delete(lane);
  };
  /** Starts the oldest request of the first lane that may start one. Returns false if no lane may. */
  const startNext = (now: number): boolean => {
    for (const [lane, queue] of lanes) {
      if (!mayStart(lane)) continue;
      const next = queue.shift();
      // Move the lane behind the others, so that the lanes take turns.
      lanes.delete(lane);
      lanes.set(lane, queue);
      remove(lane, queue);
      if (next !== undefined && !next.response.destroyed) startNow(next.request, next.response, now);
      return true;
    }
    return false;
  };
  /** Refuses the requests that have waited longer than `maxWaitMs`. Returns whether there were any. */
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
    if (hasNewConnection && acceptTurns < MAX_ACCEPT_TURNS) {
      hasNewConnection = false;
      acceptTurns++;
      scheduleTurn();
      return;
    }
    acceptTurns = 0;
    if (waitingCount === 0) return;
    const now = performance.now();
    const wasLate = refuseLate(now);
    for (let at = now; hasTurnRoom(at) && startNext(at); at = performance.now());
    measure(now, wasLate);
    if (startsInTurn > 0) scheduleTurn();
    else if (waitingCount > 0) {
      isScheduled = true;
      setTimeout(runTurn, DATABASE_RETRY_MS);
    }
  };
  const isFull = (lane: string | null): boolean => {
    const queue = lanes.get(lane) ?? [];
    const [first] = queue;
    if (first === undefined || queue.length <= maxWaiting / lanes.size) return false;
    return performance.now() - first.arrivedAt > maxWaitMs / 4;
  };
  const admit: RequestListener = (request, response) => {
    const lane = laneOf(request);
    const queue = lanes.get(lane) ?? [];
    const isAccepting = hasNewConnection || acceptTurns > 0;
    const now = request.arrivedAt ?? performance.now();
    if (queue.length === 0 && !isAccepting && hasTurnRoom(now) && mayStart(lane)) {
      scheduleTurn();
      startNow(request, response, now);
      return;
    }
    if (isFull(lane)) {
      refuse(request, response);
      return;
    }
    if (waitingCount === 0) {
      sampledAt = now;
      startedCount = 0;
    }
    queue.push({ request, response, arrivedAt: now });
    lanes.set(lane, queue);
    waitingCount++;
    scheduleTurn();
  };
  const noticeConnection = () => {
    hasNewConnection = true;
    scheduleTurn();
  };
  return { admit, isFull, noticeConnection };
}
