import { toTimestamp } from '../../kernel/wire.ts';
import type { Context } from '../context/context.ts';

const DAY_MS = 86_400_000;

/**
 * Returns the start of the retention period. Events that were inserted earlier have expired, even if housekeeping has
 * not deleted them yet.
 */
export function retainedSince({ clock, config }: Pick<Context, 'clock' | 'config'>): string {
  return toTimestamp((Math.floor(clock.now()) - config.eventsRetentionDays * DAY_MS) * 1000);
}
