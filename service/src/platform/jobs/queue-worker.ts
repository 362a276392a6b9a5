import { setTimeout as sleep } from 'node:timers/promises';
import type { Kernel } from '../context/kernel.ts';
import type { UpstreamFailure } from '../outbound/failure.ts';

const STOP_TIMEOUT_MS = 2_000;
/**
 * The longest time that a failing provider can pause the whole worker. This equals the longest time that the provider's
 * circuit breaker can stay open.
 */
const MAX_PAUSE_MS = 60_000;

/** The outcome of one step: a row was processed, nothing was due, or the worker should pause for some milliseconds. */
export type Step = 'worked' | 'idle' | { pause: number };

/**
 * Returns the outcome of a step that failed. If the provider is unavailable, the worker pauses for at most
 * `MAX_PAUSE_MS`. The failed row can be postponed for longer, but other rows must not wait for it.
 */
export function stepAfterFailure(failure: UpstreamFailure | undefined): Step {
  return failure === undefined || failure.kind === 'invalid_response'
    ? 'worked'
    : { pause: Math.min(failure.retryAfterSeconds * 1000, MAX_PAUSE_MS) };
}

export type QueueWork = {
  name: string;
  /** The notification channel that wakes the worker; null if the worker only polls. */
  channel: string | null;
  /** How often the worker looks for due rows if no notification arrives. */
  intervalMs: number;
  /** How many steps run in parallel. */
  concurrency: number;
  step(): Promise<Step>;
};

export type QueueWorker = { wake(): void; stop(): Promise<void> };

/**
 * Processes the due rows of a table: at start, when notified, when the notification connection is restored,
 * and at a fixed interval.
 */
export async function startQueueWorker(
  ctx: Pick<Kernel, 'log' | 'listener'>,
  work: QueueWork,
): Promise<QueueWorker> {
  const stopping = new AbortController();
  let running: Promise<void> | null = null;
  let isWoken = false;

  // Runs one of `concurrency` parallel loops. A failed step ends only this loop. The next wake-up starts all loops
  // again.
  const runLane = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const step = await work.step().catch((err: unknown): Step => {
        ctx.log.warn({ err, worker: work.name }, 'queue worker failed');
        return 'idle';
      });
      if (step === 'idle') return;
      if (step !== 'worked') await sleep(step.pause, undefined, { signal: stopping.signal }).catch(() => {});
    }
  };
  const run = async (): Promise<void> => {
    while (isWoken && !stopping.signal.aborted) {
      isWoken = false;
      await Promise.all(Array.from({ length: work.concurrency }, runLane));
    }
  };
  const wake = (): void => {
    isWoken = true;
    running ??= run().finally(() => {
      running = null;
      if (isWoken && !stopping.signal.aborted) wake();
    });
  };
  const timer = setInterval(wake, work.intervalMs);
  timer.unref();
  if (work.channel !== null) await ctx.listener.on(work.channel, wake);
  ctx.listener.onRestored(wake);
  wake();
  return {
    wake,
    stop: async () => {
      stopping.abort();
      clearInterval(timer);
      // Does not wait forever for a step that hangs on a slow provider. The row that the step has claimed becomes due
      // again, as after a crash.
      await Promise.race([running, sleep(STOP_TIMEOUT_MS, undefined, { ref: false })]);
    },
  };
}
