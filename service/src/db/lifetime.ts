import { type RawBuilder, sql } from 'kysely';
import type { Clock } from '../clock.ts';

/** Returns the time by which lifetimes in the database start and end. */
export function lifetimeNow(clock: Pick<Clock, 'lifetime'>): RawBuilder<string> {
  return sql<string>`coalesce(${clock.lifetime()}::timestamptz, now())`;
}
