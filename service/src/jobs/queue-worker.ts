import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from '../context.ts';

/** What one step found: work done, nothing to do, or a reason to leave everything alone for so many milliseconds. */
export type Step = 'worked' | 'idle' | { pause: number };

export type QueueWork = {
  name: string;
  /** Woken by this notification, and every so often without it. */
  channel: string;
  every: number;
  /** How many steps run at once. */
  concurrency: number;
  step(): Promise<Step>;
};

export type QueueWorker = { wake(): void; stop(): Promise<void> };

/** Works off the rows of a table that are due: at once when told of a new one, and again and again what did not work. */
export async function startQueueWorker(
  ctx: Pick<Context, 'log' | 'listener'>,
  work: QueueWork,
): Promise<QueueWorker> {
  const stopping = new AbortController();
  let running: Promise<void> | null = null;
  let again = false;

  const lane = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const step = await work.step();
      if (step === 'idle') return;
      if (step !== 'worked') await sleep(step.pause, undefined, { signal: stopping.signal }).catch(() => {});
    }
  };
  const run = async (): Promise<void> => {
    while (again && !stopping.signal.aborted) {
      again = false;
      await Promise.all(Array.from({ length: work.concurrency }, lane)).catch((err: unknown) =>
        ctx.log.warn({ err }, `${work.name}: the queue cannot be worked off`),
      );
    }
  };
  const wake = (): void => {
    again = true;
    running ??= run().finally(() => {
      running = null;
      if (again && !stopping.signal.aborted) wake();
    });
  };
  const timer = setInterval(wake, work.every);
  timer.unref();
  await ctx.listener.on(work.channel, wake);
  ctx.listener.onRestored(wake);
  wake();
  return {
    wake,
    stop: async () => {
      stopping.abort();
      clearInterval(timer);
      await running;
    },
  };
}
