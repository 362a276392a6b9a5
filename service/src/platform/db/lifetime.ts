import { type RawBuilder, sql } from 'kysely';
import type { Clock } from '../../kernel/clock.ts';

/**
 * Returns an SQL expression for the current time, to compare with expiry times in the database. The time is
 * `clock.lifetime()`, or the database's own time if `clock.lifetime()` is null.
 */
export function lifetimeNow(clock: Pick<Clock, 'lifetime'>): RawBuilder<string> {
  return sql<string>`coalesce(${clock.lifetime()}::timestamptz, now())`;
}
