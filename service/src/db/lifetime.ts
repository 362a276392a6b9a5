import { type RawBuilder, sql } from 'kysely';
import type { Clock } from '../clock.ts';

/** Returns the current time for lifetimes stored in the database. */
export function lifetimeNow(clock: Pick<Clock, 'lifetime'>): RawBuilder<string> {
  return sql<string>`coalesce(${clock.lifetime()}::timestamptz, now())`;
}
