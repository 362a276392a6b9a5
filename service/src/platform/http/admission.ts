import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

/**
 * How many requests one turn of the event loop may start, and how long it may take to start them. The node reads
 * database replies once per turn, and each request needs several replies. If a turn started every waiting request,
 * running requests would wait longer for their replies.
 */
const MAX_STARTS_PER_TURN = 16;
const MAX_START_MS_PER_TURN = 1;
/**
 * How many turns in a row may start no requests while new connections arrive. Such turns make the node accept
 * connections sooner: Node.js accepts one connection per turn, and a turn without requests is short. Until a connection
 * is accepted, it waits in the operating system, where this service can neither measure its wait nor refuse it.
 */
const MAX_ACCEPT_TURNS = 64;
/**
 * How many requests a partner may start in a row before the next lane (see `laneOf`) is served. Callers without a known
 * partner may start only one. On average, their requests cost about three times as much as those of partners, because
 * they include token refreshes.
 */
const PARTNER_STARTS = 3;
/**
 * Partners may start at most this many requests before callers without a known partner start one, if the database has
 * room for it. With many partners, waiting for a whole rotation would take too long: nobody could sign in while the
 * node is saturated.
 */
const MAX_PARTNER_STARTS = 12;
/**
 * If no partner has started a request for this long, callers without a known partner need not wait for the partners any
 * longer. The partners' statements may be stuck in the database, but other callers must still be able to sign in.
 */
const MAX_PARTNER_PAUSE_MS = 20;
const SAMPLE_INTERVAL_MS = 250;
/**
 * When the node measures the rate at which it starts requests, a turn counts as at most this long. Otherwise a pause of
 * the process would lower the measured rate.
 */
const MAX_SAMPLED_TURN_MS = 50;
/**
 * How long the limit on waiting requests applies after the rate was measured. The limit applies even if the queue
 * becomes empty for a moment. Otherwise a saturated node would queue every request until the next measurement and
 * refuse most of them late, and a late refusal costs much more than an early one.
 */
const RATE_TTL_MS = 1_000;
const DATABASE_RETRY_MS = 1;
/** How many requests a lane may briefly queue, whatever the measured rate: as many as two turns can start. */
const MAX_BURST = 2 * MAX_STARTS_PER_TURN;

type Waiting = { request: IncomingMessage; response: ServerResponse; arrivedAt: number };

type Options = {
  /**
   * The longest time that a request may wait. After that time, it is refused: its caller may have given up, and serving
   * it would delay the requests behind it.
   */
  maxWaitMs: number;
  /**
   * Returns the lane of a request: the id of its partner, or null if the partner is not known. Lanes are served in
   * rotation, so a partner that floods the node delays only itself. All callers without a known partner share one lane.
   * That lane gets a smaller share, because anybody can be such a caller.
   */
  laneOf(request: IncomingMessage): string | null;
  /** Returns whether the database has room for another request of this lane. */
  mayStart(lane: string | null): boolean;
  start: RequestListener;
  refuse: RequestListener;
};

type Admission = {
  admit: RequestListener;
  /**
   * Returns whether the lane's queue is full. If it is full, a request that cannot start at once is refused. A queue is
   * full if it exceeds the lane's share of `maxWaiting`, unless its oldest request has waited only briefly and one of
   * these conditions is met:
   * - All queues together do not exceed `maxWaiting`.
   * - The queue holds at most `MAX_BURST` requests.
   */
  isFull(lane: string | null): boolean;
  /** Call it for every new connection. */
  noticeConnection(): void;
};

/**
 * Starts requests at the rate at which the node can serve them. A request that cannot start at once waits in the queue
 * of its lane. If that queue is full (see `isFull`), the request is refused, because serving a full queue would take
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
  /** The partner at the front of the rotation, and how many requests it has started in a row. */
  let frontLane: string | null = null;
  let frontStarts = 0;
  /** The number of requests that partners have started since a caller without a known partner last started one. */
  let partnerStarts = 0;
  /** When a partner last started a request. */
  let partnerStartedAt = 0;
  /**
   * The current sample: `startedCount` requests have started in `sampledMs` milliseconds. `sampledAt` is the time of
   * the last turn in the sample.
   */
  let startedCount = 0;
  let sampledMs = 0;
  let sampledAt = 0;
  /**
   * The maximum number of waiting requests, calculated from the last complete sample. The maximum applies until
   * `limitedUntil`. After that time, and before the first sample, there is no maximum.
   */
  let maxWaiting = 0;
  let limitedUntil = 0;

  const hasTurnRoom = (now: number): boolean =>
    startsInTurn === 0 || (startsInTurn < MAX_STARTS_PER_TURN && now - firstStartAt < MAX_START_MS_PER_TURN);
  const countPartners = (): number => lanes.size - (lanes.has(null) ? 1 : 0);
  /** Returns how many requests the waiting partners may start before callers without a known partner start one. */
  const startsPerRotation = (): number => Math.min(PARTNER_STARTS * countPartners(), MAX_PARTNER_STARTS);
  /**
   * Returns whether the lane must wait until the waiting partners have started more requests. This applies only to the
   * lane of callers without a known partner. The rotation alone would give them more than their share: a saturated
   * database often has no room for the partner that is next in the rotation, and the lane behind that partner is served
   * instead.
   */
  const mustWait = (lane: string | null, now: number): boolean =>
    lane === null && partnerStarts < startsPerRotation() && now - partnerStartedAt < MAX_PARTNER_PAUSE_MS;
  const startNow = (
    { request, response }: Pick<Waiting, 'request' | 'response'>,
    lane: string | null,
    now: number,
  ) => {
    if (startsInTurn === 0) firstStartAt = now;
    startsInTurn++;
    startedCount++;
    if (lane === null) partnerStarts = 0;
    else {
      partnerStarts++;
      partnerStartedAt = now;
    }
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
  /** Moves the lane behind the others, so that the lanes are served in rotation. */
  const moveBehind = (lane: string | null, queue: Waiting[]) => {
    lanes.delete(lane);
    lanes.set(lane, queue);
    if (lane === frontLane) frontLane = null;
  };
  /** Returns the lanes in the order in which they may start a request. */
  const lanesInOrder = (): Iterable<[string | null, Waiting[]]> => {
    const unknown = partnerStarts >= MAX_PARTNER_STARTS ? lanes.get(null) : undefined;
    return unknown === undefined ? lanes : [[null, unknown], ...lanes];
  };
  /** Starts the oldest request of the first lane that may start a request. Returns false if no lane may start one. */
  const startNext = (now: number): boolean => {
    for (const [lane, queue] of lanesInOrder()) {
      if (!mayStart(lane)) {
        // A partner that cannot start its next request moves behind the others. Otherwise it would stay first.
        if (lane !== null && lane === frontLane) moveBehind(lane, queue);
        continue;
      }
      if (mustWait(lane, now)) continue;
      const next = queue.shift();
      if (lane === null) moveBehind(lane, queue);
      else {
        frontStarts = lane === frontLane ? frontStarts + 1 : 1;
        frontLane = lane;
        if (frontStarts === PARTNER_STARTS) moveBehind(lane, queue);
      }
      remove(lane, queue);
      if (next !== undefined && !next.response.destroyed) startNow(next, lane, now);
      return true;
    }
    return false;
  };
  /** Refuses the requests that have waited longer than `maxWaitMs`. */
  const refuseLate = (now: number) => {
    for (const [lane, queue] of lanes)
      for (let [first] = queue; first !== undefined && now - first.arrivedAt > maxWaitMs; [first] = queue) {
        queue.shift();
        remove(lane, queue);
        refuse(first.request, first.response);
      }
  };
  const startSample = (now: number) => {
    sampledAt = now;
    sampledMs = 0;
    startedCount = 0;
  };
  const measure = (now: number) => {
    sampledMs += Math.min(now - sampledAt, MAX_SAMPLED_TURN_MS);
    sampledAt = now;
    if (sampledMs < SAMPLE_INTERVAL_MS) return;
    maxWaiting = ((startedCount / sampledMs) * maxWaitMs) / 2;
    limitedUntil = now + RATE_TTL_MS;
    startSample(now);
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
    refuseLate(now);
    for (let at = now; hasTurnRoom(at) && startNext(at); at = performance.now());
    measure(now);
    if (startsInTurn > 0) scheduleTurn();
    else if (waitingCount > 0) {
      isScheduled = true;
      setTimeout(runTurn, DATABASE_RETRY_MS);
    }
  };
  /** Returns the lane's share of the requests in a rotation. The lane has the same share of `maxWaiting`. */
  const shareOf = (lane: string | null): number => {
    const unknown = lanes.has(null) ? 1 / (startsPerRotation() + 1) : 0;
    return lane === null ? unknown : (1 - unknown) / countPartners();
  };
  const isFull = (lane: string | null): boolean => {
    const queue = lanes.get(lane) ?? [];
    const [first] = queue;
    if (first === undefined || queue.length <= maxWaiting * shareOf(lane)) return false;
    const now = performance.now();
    const isYoung = now - first.arrivedAt <= maxWaitMs / 4;
    if (now >= limitedUntil || (isYoung && (waitingCount <= maxWaiting || queue.length <= MAX_BURST)))
      return false;
    // Extends the limit only if the lane's oldest request has waited for a long time. Otherwise a low rate measured
    // during a database stall would stay in force.
    if (!isYoung) limitedUntil = now + RATE_TTL_MS;
    return true;
  };
  const admit: RequestListener = (request, response) => {
    const lane = laneOf(request);
    const queue = lanes.get(lane) ?? [];
    const isAccepting = hasNewConnection || acceptTurns > 0;
    const now = request.arrivedAt ?? performance.now();
    if (queue.length === 0 && !isAccepting && hasTurnRoom(now) && mayStart(lane) && !mustWait(lane, now)) {
      scheduleTurn();
      startNow({ request, response }, lane, now);
      return;
    }
    if (isFull(lane)) {
      refuse(request, response);
      return;
    }
    if (waitingCount === 0) startSample(now);
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
