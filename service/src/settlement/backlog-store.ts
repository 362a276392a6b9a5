import { sql } from 'kysely';
import type { Db } from '../db/pool.ts';

export type Backlog = {
  chain: string;
  status: string;
  count: number;
  oldest_seconds: number;
  frozen: number;
};

/**
 * Counts the rows that settlement has yet to finish, with the age of the oldest, per chain and status. One subquery per
 * status, because each status has its own index: the cost grows with the backlog and not with the table.
 */
export async function listBacklog(db: Db): Promise<Backlog[]> {
  const statuses = ['prepared', 'pending', 'submitted', 'remit_submitted'] as const;
  const parts = statuses.map((status) => {
    const literal = sql.lit(status);
    return sql`
      select chain, ${literal} as status, count(*)::int as count, count(frozen_reason)::int as frozen,
        extract(epoch from now() - min(updated_at))::int as oldest_seconds
      from participations where status = ${literal} group by chain`;
  });
  const { rows } = await sql<Backlog>`${sql.join(parts, sql` union all `)} order by chain, status`.execute(
    db,
  );
  return rows;
}

/** Returns the participations that a transaction commits or refunds. */
export async function listIdsOf(db: Db, transactionId: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from participations where commit_id = ${transactionId} or remit_id = ${transactionId} order by id`.execute(
    db,
  );
  return rows.map(({ id }) => id);
}

/** Counts the rows that still need a transaction. One subquery per status, because each status has its own index. */
export async function countUnsettled(db: Db, chain: string): Promise<number> {
  const { rows } = await sql<{ count: bigint }>`
    select (select count(*) from participations where chain = ${chain} and status = 'pending')
      + (select count(*) from participations where chain = ${chain} and status = 'prepared')
      + (select count(*) from participations where chain = ${chain} and status = 'remit_submitted') as count`.execute(
    db,
  );
  return Number(rows[0]?.count ?? 0n);
}
