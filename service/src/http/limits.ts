import { sql } from 'kysely';
import type { Db } from '../db/pool.ts';

/** What one request took from its budget. */
export type Taken = { allowed: boolean; limit: number; remaining: number; resetSeconds: number };

/** Counts requests per key. A window begins with the key's first request and lasts a minute. */
export type Limiter = { take(key: string, perMinute: number): Taken | Promise<Taken> };

const WINDOW = 60_000;

/** Counts in this process; `now` is monotonic real time, whatever clock the rules run by. */
export function memoryLimiter(now: () => number = () => performance.now(), maxKeys = 200_000): Limiter {
  const windows = new Map<string, { count: number; end: number }>();
  return {
    take: (key, perMinute) => {
      const time = now();
      let window = windows.get(key);
      if (window === undefined || window.end <= time) {
        if (window === undefined && windows.size >= maxKeys) makeRoom(windows, time);
        // Deleting first moves the key to the end: the map stays ordered by the windows' ends.
        windows.delete(key);
        window = { count: 0, end: time + WINDOW };
        windows.set(key, window);
      }
      window.count++;
      return taken(window.count, perMinute, window.end - time);
    },
  };
}

/** The oldest windows come first: drop those that are over, and at least one. */
function makeRoom(windows: Map<string, { end: number }>, time: number): void {
  let dropped = 0;
  for (const [key, { end }] of windows) {
    if (dropped > 0 && end > time) break;
    windows.delete(key);
    dropped++;
  }
}

/** Counts in PostgreSQL, for several nodes behind one address: one statement a request. */
export function postgresLimiter(db: Db): Limiter {
  return {
    take: async (key, perMinute) => {
      const { rows } = await sql<{ count: number; left: number }>`
        insert into rate_limits as r (key, count, window_end) values (${key}, 1, clock_timestamp() + interval '1 minute')
        on conflict (key) do update set
          count = case when r.window_end <= clock_timestamp() then 1 else r.count + 1 end,
          window_end = case when r.window_end <= clock_timestamp() then excluded.window_end else r.window_end end
        returning count, extract(epoch from window_end - clock_timestamp())::float8 as left`.execute(db);
      const row = rows[0];
      if (row === undefined) throw new Error('the rate limit statement returned no row');
      return taken(row.count, perMinute, row.left * 1000);
    },
  };
}

function taken(count: number, limit: number, leftMilliseconds: number): Taken {
  return {
    allowed: count <= limit,
    limit,
    remaining: Math.max(0, limit - count),
    resetSeconds: Math.max(1, Math.ceil(leftMilliseconds / 1000)),
  };
}
