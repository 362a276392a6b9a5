import type { Context } from '../context.ts';
import { toTimestamp } from '../http/wire.ts';

const DAY_MS = 86_400_000;

/**
 * Returns the time since which events are kept. Earlier ones have expired, whether or not housekeeping has deleted
 * them.
 */
export function retainedSince({ clock, config }: Pick<Context, 'clock' | 'config'>): string {
  return toTimestamp((Math.floor(clock.now()) - config.eventsRetentionDays * DAY_MS) * 1000);
}
