import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Counter, type Registry } from 'prom-client';
import { ANONYMOUS, type OpenPool } from '../db/pool.ts';

/**
 * Reports whether this node is too busy to answer in time, so that the server can refuse requests before doing any work
 * on them.
 */
export type Overload = {
  isSaturated(): boolean;
  /**
   * Returns whether the database has room for another request from this partner. Null stands for all callers whose
   * partner is not known.
   */
  mayStart(partnerId: string | null): boolean;
  /** The number of statements that are waiting for a connection. */
  waiting(): number;
  /** Counts a refused request. */
  countShed(): void;
  stop(): void;
};

type Limits = { maxPoolWaitMs: number; maxEventLoopLagMs: number };

const SAMPLE_INTERVAL_MS = 250;
const MAX_LAGGING_SAMPLES = 3;
const NANOSECONDS_PER_MS = 1e6;

/**
 * Samples the pool's queue and the event loop. The node is saturated in two cases:
 * - Statements would wait too long for a connection. The expected wait is the length of the queue divided by the rate
 *   at which connections are handed out, so a long queue that moves fast is no problem.
 * - The mean event loop delay exceeds `maxEventLoopLagMs` in several consecutive samples. A single long task is not
 *   enough.
 */
export function watchOverload(
  { pool, waiting, isBusy }: Pick<OpenPool, 'pool' | 'waiting' | 'isBusy'>,
  limits: Limits,
  registry: Registry,
): Overload {
  const shed = new Counter({
    name: 'causeway_http_requests_shed_total',
    help: 'Requests refused because this node was saturated.',
    registers: [registry],
  });
  const delay = monitorEventLoopDelay({ resolution: 20 });
  delay.enable();
  let acquired = 0;
  pool.on('acquire', () => {
    acquired++;
  });
  let isSaturated = false;
  let laggingSamples = 0;
  let sampledAt = performance.now();
  const timer = setInterval(() => {
    const expectedWaitMs = (waiting() / Math.max(acquired, 1)) * SAMPLE_INTERVAL_MS;
    const now = performance.now();
    // After a reset, the histogram is empty until the second turn of the event loop. If the histogram is empty here, a
    // single turn has taken the whole sampling interval.
    const lagMs = delay.count === 0 ? now - sampledAt : delay.mean / NANOSECONDS_PER_MS;
    sampledAt = now;
    laggingSamples = lagMs > limits.maxEventLoopLagMs ? laggingSamples + 1 : 0;
    isSaturated = expectedWaitMs > limits.maxPoolWaitMs || laggingSamples >= MAX_LAGGING_SAMPLES;
    acquired = 0;
    delay.reset();
  }, SAMPLE_INTERVAL_MS);
  timer.unref();
  return {
    isSaturated: () => isSaturated,
    mayStart: (partnerId) => !isBusy(partnerId ?? ANONYMOUS),
    waiting,
    countShed: () => shed.inc(),
    stop: () => {
      clearInterval(timer);
      delay.disable();
    },
  };
}
