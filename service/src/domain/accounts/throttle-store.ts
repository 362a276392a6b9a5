import { sql } from 'kysely';
import { deleteInBatches } from '../../platform/db/delete-in-batches.ts';
import type { Db } from '../../platform/db/pool.ts';

export type WindowCount = { count: number; remainingSeconds: number };

const SOURCE_TTL = '90 days';

/**
 * Counts a sign-in attempt or an email. All keys stand for the same account (and, if the browser or network is known,
 * for the same browser or network). The first key is a hash made with the newest secret. The other keys are hashes made
 * with older secrets, which some nodes may still use. Increments the first key's count, or starts a new window if the
 * current window has ended. Returns the sum of all keys' counts in the current windows, and how many seconds are left
 * in the first key's window.
 */
export async function countInWindow(
  db: Db,
  [key, ...older]: readonly Buffer[],
  window: '1 hour' | '1 day',
): Promise<WindowCount> {
  const { rows } = await sql<{ count: number; left: number }>`
    insert into sign_in_failures as f (account, count, window_end) values (${key}, 1, now() + ${window}::interval)
    on conflict (account) do update set
      count = case when f.window_end <= now() then 1 else f.count + 1 end,
      window_end = case when f.window_end <= now() then excluded.window_end else f.window_end end
    returning count + coalesce((select sum(o.count)::int from sign_in_failures o
        where o.account = any(${older}::bytea[]) and o.window_end > now()), 0) as count,
      extract(epoch from window_end - now())::float8 as left`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error('the counting statement returned no row');
  return { count: row.count, remainingSeconds: Math.ceil(row.left) };
}

export async function deleteCounts(db: Db, keys: readonly Buffer[]): Promise<void> {
  await db.deleteFrom('sign_in_failures').where('account', 'in', keys).execute();
}

export async function deleteExpiredSignInFailures({ db }: { db: Db }): Promise<void> {
  await deleteInBatches(db, 'sign_in_failures', sql`window_end < now()`);
}

export async function rememberSources(db: Db, account: Buffer, sources: readonly Buffer[]): Promise<void> {
  await sql`insert into sign_in_sources (account, source) select ${account}, unnest(${sources}::bytea[])
    on conflict (account, source) do update set used_at = now()`.execute(db);
}

/** Both lists contain one hash per configured secret: `accounts` of the account, `sources` of a browser or network. */
export async function findKnownSource(
  db: Db,
  accounts: readonly Buffer[],
  sources: readonly Buffer[],
): Promise<boolean> {
  const row = await db
    .selectFrom('sign_in_sources')
    .select('used_at')
    .where('account', 'in', accounts)
    .where('source', 'in', sources)
    .executeTakeFirst();
  return row !== undefined;
}

export async function deleteUnusedSources({ db }: { db: Db }): Promise<void> {
  await deleteInBatches(db, 'sign_in_sources', sql`used_at < now() - ${SOURCE_TTL}::interval`);
}
