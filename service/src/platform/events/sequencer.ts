import type { Kernel } from '../context/kernel.ts';
import { placeEvents } from './store.ts';

/** How often a node looks for events from other nodes and from commands. */
const POLL_INTERVAL_MS = 250;
/**
 * Several times, because events become visible only when their transaction commits, usually a few milliseconds later.
 */
const LOOK_AFTER_MS = [3, 15, 50];

/**
 * Assigns positions to events soon after they are committed. Any number of nodes may run it: the database lets one at
 * a time.
 */
export function startSequencer(
  ctx: Pick<Kernel, 'db' | 'log' | 'eventsAppended'>,
  pollIntervalMs = POLL_INTERVAL_MS,
): () => Promise<void> {
  let running: Promise<void> | undefined;
  let isStopped = false;
  const place = (): void => {
    if (isStopped) return;
    running ??= placeEvents(ctx.db)
      .catch((err: unknown) => ctx.log.warn({ err }, 'assigning event positions failed'))
      .finally(() => {
        running = undefined;
      });
  };
  const looks = new Map<number, NodeJS.Timeout>();
  const lookAfter = (delay: number): void => {
    if (isStopped || looks.has(delay)) return;
    const timer = setTimeout(() => {
      looks.delete(delay);
      place();
    }, delay);
    looks.set(delay, timer.unref());
  };
  ctx.eventsAppended.on(() => LOOK_AFTER_MS.forEach(lookAfter));
  const timer = setInterval(place, pollIntervalMs);
  timer.unref();
  return async () => {
    isStopped = true;
    clearInterval(timer);
    for (const look of looks.values()) clearTimeout(look);
    await running;
  };
}
