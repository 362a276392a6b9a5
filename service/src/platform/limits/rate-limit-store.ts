import { sql } from 'kysely';
import { deleteInBatches } from '../db/delete-in-batches.ts';
import type { Db } from '../db/pool.ts';

export type CountedRequest = { count: number; remainingMs: number };

/** Counts a request in the key's current one-minute window, or starts a new window. */
export async function countRequest(db: Db, key: string): Promise<CountedRequest> {
  const { rows } = await sql<{ count: number; left: number }>`
    insert into rate_limits as r (key, count, window_end) values (${key}, 1, clock_timestamp() + interval '1 minute')
    on conflict (key) do update set
      count = case when r.window_end <= clock_timestamp() then 1 else r.count + 1 end,
      window_end = case when r.window_end <= clock_timestamp() then excluded.window_end else r.window_end end
    returning count, extract(epoch from window_end - clock_timestamp())::float8 as left`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error('the rate limit statement returned no row');
  return { count: row.count, remainingMs: row.left * 1000 };
}

export async function deleteExpiredRateLimits({ db }: { db: Db }): Promise<void> {
  await deleteInBatches(db, 'rate_limits', sql`window_end < now()`);
}
