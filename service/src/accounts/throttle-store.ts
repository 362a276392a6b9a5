import { sql } from 'kysely';
import { deleteInBatches } from '../db/delete-in-batches.ts';
import type { Db } from '../db/pool.ts';

export type SignInFailures = { count: number; remainingSeconds: number };

/**
 * Counts a failure in the account's current one-hour window, or starts a new window. The result includes the failures
 * counted under the account's `older` keys.
 */
export async function countSignInFailure(
  db: Db,
  account: Buffer,
  older: readonly Buffer[],
): Promise<SignInFailures> {
  const { rows } = await sql<{ count: number; left: number }>`
    insert into sign_in_failures as f (account, count, window_end) values (${account}, 1, now() + interval '1 hour')
    on conflict (account) do update set
      count = case when f.window_end <= now() then 1 else f.count + 1 end,
      window_end = case when f.window_end <= now() then excluded.window_end else f.window_end end
    returning count + coalesce((select sum(o.count)::int from sign_in_failures o
        where o.account = any(${older}::bytea[]) and o.window_end > now()), 0) as count,
      extract(epoch from window_end - now())::float8 as left`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error('the sign-in failure statement returned no row');
  return { count: row.count, remainingSeconds: Math.ceil(row.left) };
}

export async function deleteSignInFailures(db: Db, keys: readonly Buffer[]): Promise<void> {
  await db.deleteFrom('sign_in_failures').where('account', 'in', keys).execute();
}

export async function deleteExpiredSignInFailures({ db }: { db: Db }): Promise<void> {
  await deleteInBatches(db, 'sign_in_failures', sql`window_end < now()`);
}
