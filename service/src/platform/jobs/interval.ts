import type { Kernel } from '../context/kernel.ts';

/**
 * Runs `work` every `intervalMs`; runs never overlap. Returns a function that stops the interval and waits for the
 * current run.
 */
export function startInterval(
  { log }: Pick<Kernel, 'log'>,
  intervalMs: number,
  failureMessage: string,
  work: () => Promise<void>,
): () => Promise<void> {
  let running: Promise<void> | undefined;
  const timer = setInterval(() => {
    running ??= work()
      .catch((err: unknown) => log.warn({ err }, failureMessage))
      .finally(() => {
        running = undefined;
      });
  }, intervalMs);
  timer.unref();
  return async () => {
    clearInterval(timer);
    await running;
  };
}
