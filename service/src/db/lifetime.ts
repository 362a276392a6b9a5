import { type RawBuilder, sql } from 'kysely';
import type { Clock } from '../clock.ts';

/**
 * Returns an SQL expression for the time by which lifetimes in the database are measured: that of the clock if it
 * was set, otherwise that of the database.
 */
export function lifetimeNow(clock: Pick<Clock, 'lifetime'>): RawBuilder<string> {
  return sql<string>`coalesce(${clock.lifetime()}::timestamptz, now())`;
}
