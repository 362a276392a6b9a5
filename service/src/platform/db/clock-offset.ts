import type pg from 'pg';
import { realTime } from '../../kernel/clock.ts';

/**
 * A larger difference is a fault: leases and expiry times follow the database's clock, codes from authenticator apps and
 * signed timestamps follow the node's clock, and providers refuse requests whose timestamp is off by a minute.
 */
export const MAX_CLOCK_OFFSET_MS = 20_000;

/**
 * Returns the difference between the database's clock and this machine's clock, in milliseconds. Positive if the
 * database's clock is ahead.
 */
export async function readClockOffset(pool: Pick<pg.Pool, 'query'>): Promise<number> {
  const startedAt = performance.now();
  const { rows } = await pool.query<{ now_ms: number }>(
    'select extract(epoch from clock_timestamp())::float8 * 1000 as now_ms',
  );
  const [row] = rows;
  if (row === undefined) throw new Error('the query for the clock returned no row');
  return row.now_ms - (realTime() - (performance.now() - startedAt) / 2);
}

/** Throws if the clocks of the database and this machine differ by more than `MAX_CLOCK_OFFSET_MS`. */
export async function assertClock(pool: Pick<pg.Pool, 'query'>): Promise<void> {
  const offsetMs = await readClockOffset(pool);
  if (Math.abs(offsetMs) > MAX_CLOCK_OFFSET_MS)
    throw new Error(`the clock of the database is off by ${Math.round(offsetMs / 1000)} s`);
}
