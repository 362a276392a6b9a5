import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Counter, type Registry } from 'prom-client';
import { ApiError } from '../../kernel/errors.ts';
import { createFairQueue, type FairQueue } from '../../kernel/fair-queue.ts';
import { groupOfLane, type OpenPool } from '../db/pool.ts';

/** Refuses requests that this node could not answer in time, before any other work is done for them. */
export type Overload = {
  /**
   * Waits until the lane (see `OpenPool.laneOf`) may start another request. Throws `unavailable` if that would take too
   * long, or if the statements of the request would wait too long for a connection.
   */
  admit(lane: string): Promise<void>;
  /** Returns whether `admit` refuses requests of this lane. */
  isSaturated(lane: string): boolean;
  /** Must be called for every new connection. */
  noticeConnection(): void;
  /** The number of statements that are waiting for a connection. */
  waiting(): number;
  stop(): void;
};

type Limits = { maxPoolWaitMs: number; maxEventLoopLagMs: number };

const SAMPLE_INTERVAL_MS = 250;
const MAX_LAGGING_SAMPLES = 3;
const NANOSECONDS_PER_MS = 1e6;
/**
 * How many requests one turn of the event loop may start. The node reads replies of the database and accepts a
 * connection once per turn. If a turn started every request that has arrived, everything would wait for it.
 */
const MAX_STARTS_PER_TURN = 16;
/**
 * For how many turns in a row no more requests start because connections arrive. Node accepts one connection per turn.
 * Until then it waits in the operating system, where this node can neither answer nor refuse its requests.
 */
const MAX_ACCEPT_TURNS = 16;
/** Made once, because most of the cost of a refusal would be the stack trace. */
const SATURATED = new ApiError('unavailable', {}, { headers: { 'retry-after': '1' } });

/**
 * Watches the queue for connections, the queue of requests and the event loop. A request is refused in two cases:
 * - It would wait longer in one of the queues than the limits allow. This depends on its lane, so a lane that floods the
 *   node is refused while the others are served.
 * - The mean event loop delay exceeds `maxEventLoopLagMs` in several consecutive samples. A single long task is not
 *   enough.
 */
export function watchOverload(
  { queue }: Pick<OpenPool, 'queue'>,
  limits: Limits,
  registry: Registry,
): Overload {
  const shed = new Counter({
    name: 'causeway_http_requests_shed_total',
    help: 'Requests refused because this node was saturated.',
    registers: [registry],
  });
  const starts = createFairQueue({
    concurrency: MAX_STARTS_PER_TURN,
    maxWaitMs: limits.maxEventLoopLagMs,
    timeout: () => SATURATED,
    groupOf: groupOfLane,
  });
  const turns = limitTurns();
  const queues = [watchQueue(queue, limits.maxPoolWaitMs), watchQueue(starts, limits.maxEventLoopLagMs)];
  const delay = monitorEventLoopDelay({ resolution: 20 });
  delay.enable();
  let laggingSamples = 0;
  let sampledAt = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    const elapsedMs = now - sampledAt;
    sampledAt = now;
    for (const each of queues) each.sample(elapsedMs);
    // After a reset, the histogram is empty until the second turn of the event loop. If the histogram is empty here, a
    // single turn has taken the whole sampling interval.
    const lagMs = delay.count === 0 ? elapsedMs : delay.mean / NANOSECONDS_PER_MS;
    laggingSamples = lagMs > limits.maxEventLoopLagMs ? laggingSamples + 1 : 0;
    delay.reset();
  }, SAMPLE_INTERVAL_MS);
  timer.unref();
  const isSaturated = (lane: string) =>
    laggingSamples >= MAX_LAGGING_SAMPLES || queues.some((each) => each.isTooLong(lane));
  return {
    isSaturated,
    noticeConnection: turns.noticeConnection,
    waiting: queue.waiting,
    admit: async (lane) => {
      try {
        if (isSaturated(lane)) throw SATURATED;
        turns.after(await starts.take(lane));
      } catch (error) {
        shed.inc();
        throw error;
      }
    },
    stop: () => {
      clearInterval(timer);
      delay.disable();
    },
  };
}

/** Runs callbacks at the end of the turn of the event loop, or up to `MAX_ACCEPT_TURNS` later while connections arrive. */
function limitTurns() {
  let callbacks: (() => void)[] = [];
  let hasConnection = false;
  let acceptTurns = 0;
  const end = () => {
    if (hasConnection && acceptTurns < MAX_ACCEPT_TURNS) {
      hasConnection = false;
      acceptTurns++;
      setImmediate(end);
      return;
    }
    acceptTurns = 0;
    const ended = callbacks;
    callbacks = [];
    for (const callback of ended) callback();
  };
  return {
    after: (callback: () => void) => {
      if (callbacks.push(callback) === 1) setImmediate(end);
    },
    noticeConnection: () => {
      hasConnection = true;
    },
  };
}

/** Estimates how long a task of a lane would wait: the tasks that would start first, divided by the rate of starts. */
function watchQueue(queue: Pick<FairQueue, 'waiting' | 'ahead' | 'started'>, maxWaitMs: number) {
  let isWaiting = false;
  let started = queue.started();
  /** How many tasks start within `maxWaitMs`. */
  let maxAhead = Number.POSITIVE_INFINITY;
  return {
    sample: (elapsedMs: number) => {
      // Only a sample in which tasks waited all the time says how many can start, so a burst on an idle node is served.
      const wasWaiting = isWaiting;
      isWaiting = queue.waiting() > 0;
      const count = Math.max(queue.started() - started, 1);
      started = queue.started();
      maxAhead = wasWaiting && isWaiting ? (count / elapsedMs) * maxWaitMs : Number.POSITIVE_INFINITY;
    },
    isTooLong: (lane: string) => queue.ahead(lane) > maxAhead,
  };
}
