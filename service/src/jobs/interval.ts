import type { Context } from '../context.ts';

/** Does some work every so many milliseconds, never twice at once. Answers what ends it, once the last time is over. */
export function startInterval(
  { log }: Pick<Context, 'log'>,
  every: number,
  complaint: string,
  work: () => Promise<void>,
): () => Promise<void> {
  let running: Promise<void> | undefined;
  const timer = setInterval(() => {
    running ??= work()
      .catch((err: unknown) => log.warn({ err }, complaint))
      .finally(() => {
        running = undefined;
      });
  }, every);
  timer.unref();
  return async () => {
    clearInterval(timer);
    await running;
  };
}
